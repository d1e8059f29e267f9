// Reads what `test_javascript.py` writes, and imports components without a browser.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.BPEVIZ_FIXTURES;
if (!folder) throw new Error("Run these tests through pytest tests/components/test_javascript.py");

export const read = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));

/** An element with just enough of the DOM for cells to be drawn. */
class FakeElement {
  constructor() {
    this.children = [];
    this.className = "";
    this.style = { setProperty: (name, value) => (this.style[name] = value) };
    this.text = "";
    this.classList = {
      toggle: (name, on) => {
        const names = new Set(this.className.split(" ").filter(Boolean));
        if (on) names.add(name);
        else names.delete(name);
        this.className = [...names].join(" ");
      },
    };
  }
  set textContent(text) {
    this.text = text;
    this.children = [];
  }
  get textContent() {
    return this.text + this.children.map((child) => child.textContent ?? child).join("");
  }
  append(...children) {
    for (const child of children) {
      if (child instanceof FakeElement) child.parent = this;
      this.children.push(child);
    }
  }
  appendChild(child) {
    this.append(child);
    return child;
  }
  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }
  setAttribute() {}
  addEventListener() {}
  click() {
    this.onclick({ stopPropagation: () => {} });
  }
  focus() {}
  get firstElementChild() {
    return this.children[0];
  }
}

globalThis.document = { createElement: () => new FakeElement(), addEventListener: () => {} };
