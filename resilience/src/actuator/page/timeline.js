// The transitions, newest first, and their announcement to screen readers.

import { stateBadge } from "./badge.js";
import { byId, element } from "./dom.js";
import { clock, count, percent, stateWord } from "./words.js";

const MAX_TRANSITIONS = 200;

/** Those that are not drawn yet: none are, while the page is hidden. */
let arrived = [];

/** Those that a stream begins with are all there are: also those that were missed meanwhile. */
export function restartTransitions(earlier) {
  byId("timeline").replaceChildren(...earlier.map(transitionItem).reverse());
  byId("calm").hidden = earlier.length > 0;
  arrived = [];
}

export function addTransition(transition) {
  arrived.push(transition);
  if (arrived.length > MAX_TRANSITIONS) arrived.shift();
}

export function drawTransitions() {
  if (arrived.length === 0) return;
  const list = byId("timeline");
  list.prepend(...arrived.map(transitionItem).reverse());
  while (list.children.length > MAX_TRANSITIONS) list.lastElementChild.remove();
  byId("calm").hidden = true;
  const { name, from, to } = arrived.at(-1);
  const others = arrived.length > 1 ? ` and ${count(arrived.length - 1)} more transitions` : "";
  byId("announcement").textContent = `${name}: ${stateWord(from)} to ${stateWord(to)}${others}`;
  arrived = [];
}

function transitionItem({ name, from, to, at, failureRate, slowCallRate }) {
  const [before, after] = [stateBadge(), stateBadge()];
  before.show(from);
  after.show(to);
  const time = element("time", { datetime: at }, clock.format(new Date(at)));
  const arrow = element("span", { role: "img", "aria-label": "to" }, "→");
  const rates = `failures ${percent(failureRate)}, slow ${percent(slowCallRate)}`;
  const head = element("div", { class: "head" }, element("b", {}, name), time);
  const way = element("div", { class: "way" }, before.badge, arrow, after.badge, element("small", {}, rates));
  return element("li", {}, head, way);
}
