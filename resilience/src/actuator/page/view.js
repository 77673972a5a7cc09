// Filter, order and theme: kept in the address, so that a link shows the same to others.

import { byId, setText } from "./dom.js";

export const view = { q: "", pattern: "", state: "", sort: "", theme: "" };

/** The address is written once the reader has settled: Safari fails after 100 times in 30 seconds. */
const SETTLED_MS = 400;

const THEMES = ["", "light", "dark"];
const inputs = { q: byId("filter"), pattern: byId("pattern"), state: byId("state"), sort: byId("sort") };
const listeners = [];
let writing = null;

/** Calls `listener` whenever the reader wants something else to be shown. */
export const onView = (listener) => listeners.push(listener);

export function readAddress() {
  clearTimeout(writing);
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [key, input] of Object.entries(inputs)) {
    input.value = given.get(key) ?? "";
    // A select that does not offer it has no value then.
    view[key] = input.value ||= "";
  }
  view.theme = THEMES.includes(given.get("theme")) ? given.get("theme") : "";
  showView();
}

function changeView() {
  clearTimeout(writing);
  writing = setTimeout(writeAddress, SETTLED_MS);
  showView();
}

function writeAddress() {
  const given = new URLSearchParams(Object.entries(view).filter(([, value]) => value));
  history.replaceState(null, "", given.size ? `#${given}` : location.pathname + location.search);
}

function showView() {
  document.documentElement.dataset.theme = view.theme;
  setText(byId("theme"), `theme: ${view.theme || "auto"}`);
  for (const listener of listeners) listener();
}

for (const [key, input] of Object.entries(inputs)) {
  input.addEventListener("input", () => {
    view[key] = input.value;
    changeView();
  });
}
byId("theme").addEventListener("click", () => {
  view.theme = THEMES[(THEMES.indexOf(view.theme) + 1) % THEMES.length];
  changeView();
});
byId("filters").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", readAddress);
addEventListener("keydown", (event) => {
  const elsewhere = event.target.closest?.("input, select, dialog, #menu");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || elsewhere) return;
  event.preventDefault();
  inputs.q.focus();
  inputs.q.select();
});
