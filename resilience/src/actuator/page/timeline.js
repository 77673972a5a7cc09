// The transitions, newest first, and their announcement to screen readers.

import { stateBadge } from "./badge.js";
import { byId, element, setText } from "./dom.js";
import { count, moment, percent, stateWord, today, wholeMoment } from "./words.js";

const MAX_TRANSITIONS = 200;

/** Those that are not drawn yet: none are, while the page is hidden. */
let arrived = [];
let drawnOn = today();

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
  const { from, to } = arrived.at(-1);
  const others = arrived.length > 1 ? ` and ${count(arrived.length - 1)} more transitions` : "";
  byId("announcement").textContent = `${subject(arrived.at(-1))}: ${stateWord(from)} to ${stateWord(to)}${others}`;
  arrived = [];
}

/** Gives those of yesterday their date when the day turns. */
export function tickTransitions() {
  if (drawnOn === today()) return;
  drawnOn = today();
  const times = byId("timeline").querySelectorAll("time");
  for (const time of times) setText(time, moment(new Date(time.dateTime)));
}

/** Which breaker it was; a key itself is told by nobody. */
const subject = ({ name, keyed }) => (keyed ? `${name} (a key)` : name);

function transitionItem(transition) {
  const { from, to, failureRate, slowCallRate } = transition;
  const at = new Date(transition.at);
  const [before, after] = [stateBadge(), stateBadge()];
  before.show(from);
  after.show(to);
  const time = element("time", { datetime: transition.at, title: wholeMoment(at) }, moment(at));
  const arrow = element("span", { role: "img", "aria-label": "to" }, "→");
  const rates = `failures ${percent(failureRate)}, slow ${percent(slowCallRate)}`;
  const head = element("div", { class: "head" }, element("b", {}, subject(transition)), time);
  const way = element("div", { class: "way" }, before.badge, arrow, after.badge, element("small", {}, rates));
  return element("li", {}, head, way);
}
