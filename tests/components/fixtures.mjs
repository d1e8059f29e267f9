// Reads what `test_javascript.py` writes, and imports components without a browser.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.BPEVIZ_FIXTURES;
if (!folder) throw new Error("Run these tests through pytest tests/components/test_javascript.py");

export const read = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));

/** An element with just enough of the DOM for a list to be drawn. */
class FakeElement {
  children = [];
  append(...children) {
    this.children.push(...children);
  }
  replaceChildren(...children) {
    this.children = children;
  }
  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }
  get firstElementChild() {
    return this.children[0];
  }
  focus() {}
  click() {
    this.onclick({ stopPropagation: () => {} });
  }
}

globalThis.document = { createElement: () => new FakeElement(), addEventListener: () => {} };
