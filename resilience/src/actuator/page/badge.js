// A state by its shape, word and colour.

import { element } from "./dom.js";
import { stateWord } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

export function stateBadge() {
  const use = document.createElementNS(SVG, "use");
  const shape = document.createElementNS(SVG, "svg");
  shape.setAttribute("aria-hidden", "true");
  shape.append(use);
  const word = element("span");
  const badge = element("span", { class: "state" }, shape, word);
  return {
    badge,
    show(state) {
      if (badge.dataset.is === state) return;
      badge.dataset.is = state;
      use.setAttribute("href", `#shape-${state}`);
      word.textContent = stateWord(state);
    },
  };
}
