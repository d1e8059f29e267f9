// The legend of a marked answer.

import { element } from "../shared/dom.js";

/**
 * Return the legend: the class of each sign, and its words.
 * @param {string[][]} entries
 */
export function legend(entries) {
  const list = element("p", "legend");
  list.append(
    ...entries.map(([sign, words]) => {
      const entry = element("span");
      entry.append(element("span", `swatch ${sign}`), words);
      return entry;
    }),
  );
  return list;
}
