// The table of one pattern: rows by name, in the order that the reader wants.

import { element, setText } from "./dom.js";
import { Row } from "./row.js";
import { view } from "./view.js";
import { count } from "./words.js";

const names = new Intl.Collator("en", { numeric: true });

const ORDERS = {
  "": (a, b) => b.trouble - a.trouble || names.compare(a.name, b.name),
  name: (a, b) => names.compare(a.name, b.name),
  rate: (a, b) => b.rate() - a.rate() || names.compare(a.name, b.name),
};

export class Table {
  constructor(pattern) {
    this.pattern = pattern;
    this.rows = new Map();
    this.changed = true;
    this.shown = 0;
    this.count = element("small");
    this.body = element("tbody", { role: "rowgroup" });
    const titles = pattern.columns.map(({ title, className = "" }) =>
      element("th", { scope: "col", role: "columnheader", class: className }, title),
    );
    const head = element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...titles));
    const heading = `${pattern.list}-title`;
    this.element = element(
      "section",
      { id: pattern.list, "aria-labelledby": heading, hidden: "" },
      element("h2", { id: heading }, `${pattern.title} `, this.count),
      element("table", { role: "table", "aria-labelledby": heading }, head, this.body),
    );
  }

  update(instance) {
    let row = this.rows.get(instance.name);
    if (!row) this.rows.set(instance.name, (row = new Row(this.pattern, instance.name)));
    row.update(instance);
    this.changed = true;
  }

  remove(name) {
    this.changed = this.rows.delete(name) || this.changed;
  }

  keepOnly(instances) {
    const kept = new Set(instances.map(({ name }) => name));
    for (const name of this.rows.keys()) if (!kept.has(name)) this.remove(name);
  }

  draw() {
    if (!this.changed) return;
    this.changed = false;
    const rows = [...this.rows.values()].filter((row) => row.matches(view));
    for (const row of rows) if (row.dirty) row.draw();
    this.arrange(rows.sort(ORDERS[view.sort] ?? ORDERS[""]));
    this.shown = rows.length;
    this.element.hidden = rows.length === 0;
    const [some, all] = [count(rows.length), count(this.rows.size)];
    setText(this.count, some === all ? all : `${some} of ${all}`);
  }

  /** Writes what time alone changes. */
  tick() {
    for (const row of this.rows.values()) if (row.element.isConnected && !row.dirty) row.tick();
  }

  /** Puts the rows in order and moves as few as it can; the focus stays where it is. */
  arrange(rows) {
    const focused = document.activeElement;
    let next = this.body.firstElementChild;
    for (const { element: wanted } of rows) {
      if (next !== wanted && next?.nextElementSibling === wanted) {
        next.remove();
        next = wanted;
      }
      if (next === wanted) next = next.nextElementSibling;
      else this.body.insertBefore(wanted, next);
    }
    while (next) {
      const gone = next;
      next = next.nextElementSibling;
      gone.remove();
    }
    const moved = focused !== document.activeElement && focused?.isConnected;
    if (moved) focused.focus({ preventScroll: true });
  }
}
