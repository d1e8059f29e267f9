import { component } from "../shared/dom.js";
import { MergeDiagram } from "./diagram.js";

export const mount = component(MergeDiagram);
