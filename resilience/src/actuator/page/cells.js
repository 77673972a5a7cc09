// What the columns show: each cell makes its nodes once, and writes to them what differs.

import { stateBadge } from "./badge.js";
import { element, setAttribute, setText } from "./dom.js";
import { openMenu } from "./menu.js";
import { serverNow } from "./server.js";
import { count, duration, percent } from "./words.js";

export const nameCell = {
  title: "Name",
  header: true,
  className: "name",
  make(name) {
    const off = element("span", { class: "off", hidden: "" }, "off");
    const update = (instance) => (off.hidden = instance.enabled);
    return { nodes: [name, off], update };
  },
};

export const stateCell = {
  title: "State",
  make() {
    const { badge, show } = stateBadge();
    return { nodes: [badge], update: (breaker) => show(breaker.state) };
  },
};

export function textCell(title, text, className = "number") {
  const make = () => {
    const node = document.createTextNode("");
    return { nodes: [node], update: (instance) => setText(node, text(instance)) };
  };
  return { title, className, make };
}

/** `read` tells {value, max, mark, text, note, says}: mark is where trouble begins. */
export function meterCell(title, read) {
  const make = () => {
    const text = element("span");
    const note = element("small");
    const fill = element("div", { class: "fill" });
    const tick = element("div", { class: "tick" });
    const attributes = { class: "meter", role: "meter", "aria-label": title, "aria-valuemin": "0" };
    const bar = element("div", attributes, fill, tick);
    const update = (instance) => {
      const { value, max, mark, text: shown, note: aside, says } = read(instance);
      const known = Math.max(0, value);
      setText(text, shown);
      setText(note, aside);
      setAttribute(bar, "aria-valuemax", String(max));
      setAttribute(bar, "aria-valuenow", String(Math.min(known, max)));
      setAttribute(bar, "aria-valuetext", says);
      bar.classList.toggle("alarm", mark !== null && value >= mark);
      fill.style.transform = `scaleX(${max > 0 ? Math.min(known / max, 1) : 0})`;
      tick.hidden = mark === null || mark >= max;
      if (!tick.hidden) tick.style.left = `${(100 * mark) / max}%`;
    };
    return { nodes: [element("div", { class: "reading" }, text, note), bar], update };
  };
  return { title, make };
}

export function rateCell(title, rate, threshold, affected) {
  return meterCell(title, (breaker) => {
    const text = percent(rate(breaker));
    const note = `of ${threshold(breaker)} %`;
    const detail = `${count(affected(breaker))} of ${count(breaker.bufferedCalls)} calls`;
    const told = rate(breaker) < 0 ? "undefined" : `${text}, threshold ${threshold(breaker)} %`;
    const says = `${told}, ${detail}`;
    return { value: rate(breaker), max: 100, mark: threshold(breaker), text, note, says };
  });
}

/** How much of a capacity is taken. */
export function usageCell(title, used, max, unit) {
  return meterCell(title, (instance) => {
    const [taken, all] = [used(instance), max(instance)];
    const text = `${count(taken)} / ${count(all)}`;
    const says = `${count(taken)} of ${count(all)} ${unit}`;
    return { value: taken, max: all, mark: all > 0 ? all : null, text, note: "", says };
  });
}

export const windowCell = meterCell("Window", (breaker) => {
  const { bufferedCalls: buffered, minimumNumberOfCalls: minimum } = breaker;
  if (breaker.state === "HALF_OPEN") {
    const max = breaker.permittedCallsInHalfOpen;
    const text = `${count(buffered)} / ${count(max)}`;
    return { value: buffered, max, mark: null, text, note: "probes", says: `${text} probes are back` };
  }
  // A window of seconds holds any number of calls: its fill is told against the minimum.
  const ofTime = breaker.windowType === "TIME_BASED";
  const max = ofTime ? Math.max(minimum, buffered) : breaker.maxBufferedCalls;
  const text = ofTime ? `${count(buffered)} calls` : `${count(buffered)} / ${count(max)}`;
  const says = `${text}, decides from ${count(minimum)} calls`;
  return { value: buffered, max, mark: null, text, note: `min ${count(minimum)}`, says };
});

function untilProbe(openUntil) {
  if (openUntil === null) return "";
  const left = Date.parse(openUntil) - serverNow();
  return left > 0 ? ` probe in ${duration(Math.max(left, 1000))}` : " probe due";
}

/** Since when, and until when; read anew each second as time goes on without the server. */
export const sinceCell = {
  title: "Since",
  make() {
    const since = element("span");
    const until = element("small");
    let breaker;
    const tick = () => {
      const age = serverNow() - Date.parse(breaker.since);
      setText(since, age < 1000 ? "now" : duration(age));
      setText(until, untilProbe(breaker.openUntil));
    };
    const update = (instance) => {
      breaker = instance;
      setAttribute(since, "title", breaker.since);
      tick();
    };
    return { nodes: [since, until], update, tick };
  },
};

export const menuCell = {
  title: "Change",
  className: "change",
  make(name) {
    const button = element("button", { class: "more", type: "button", "aria-haspopup": "menu" }, "⋯");
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", `Change ${name}`);
    button.addEventListener("click", () => openMenu(button, name));
    return { nodes: [button], update() {} };
  },
};
