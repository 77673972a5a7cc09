// One instance in the table of its pattern.

import { element } from "./dom.js";

export class Row {
  constructor(pattern, name) {
    this.pattern = pattern;
    this.name = name;
    this.searched = name.toLowerCase();
    this.cells = pattern.columns.map((column) => column.make(name));
    this.element = element("tr", { role: "row" });
    this.cells.forEach(({ nodes }, at) => {
      const { title, header, className } = pattern.columns[at];
      const cell = header
        ? element("th", { scope: "row", role: "rowheader" })
        : element("td", { role: "cell", "data-title": title });
      if (className) cell.className = className;
      cell.append(...nodes);
      this.element.append(cell);
    });
  }

  update(instance) {
    this.instance = instance;
    this.trouble = this.pattern.trouble(instance);
    this.dirty = true;
  }

  draw() {
    this.dirty = false;
    for (const cell of this.cells) cell.update(this.instance);
  }

  tick() {
    for (const cell of this.cells) cell.tick?.();
  }

  rate() {
    return this.pattern.rate(this.instance);
  }

  matches({ q, state, pattern }) {
    if (pattern && pattern !== this.pattern.list) return false;
    if (state === "trouble" && this.trouble === 0) return false;
    if (state && state !== "trouble" && state !== this.instance.state) return false;
    return this.searched.includes(q.toLowerCase());
  }
}
