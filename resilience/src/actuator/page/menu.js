// The menu of a breaker. There is one for all of them, apart from the rows, which may move beneath it.

import { confirmChange } from "./change.js";
import { byId, element } from "./dom.js";
import { server } from "./server.js";

const ACTIONS = [
  {
    state: "CLOSE",
    title: "Close",
    does: "Calls pass again, and are counted from an empty window.",
  },
  {
    state: "FORCE_OPEN",
    title: "Force open",
    does: "Every call is refused until the state is changed by hand again.",
  },
  {
    state: "DISABLE",
    title: "Disable",
    does: "Every call passes and none is counted, until the state is changed by hand again.",
  },
  {
    state: "METRICS_ONLY",
    title: "Metrics only",
    does: "Every call passes and is counted, but the breaker stays as it is until it is changed by hand again.",
  },
  {
    state: "RESET",
    title: "Reset",
    does: "The breaker is closed, and what is in its window is forgotten.",
  },
];

const NOTHING = "Nothing can be changed from here: no token is configured on the server.";

let menuButton = null;

export function openMenu(button, name) {
  const menu = byId("menu");
  menuButton = button;
  const item = (action) => {
    const attributes = { type: "button", role: "menuitem", tabindex: "-1" };
    const made = element("button", attributes, action.title);
    made.addEventListener("click", () => {
      menu.hidePopover();
      confirmChange(action, name, button);
    });
    return made;
  };
  menu.replaceChildren(...(server.writable ? ACTIONS.map(item) : [nothing()]));
  menu.setAttribute("aria-label", `Change ${name}`);
  menu.showPopover();
  button.setAttribute("aria-expanded", "true");
  // Under the button, or above it where there is no room; inside the window in any case.
  const place = button.getBoundingClientRect();
  const fits = place.bottom + menu.offsetHeight < innerHeight;
  const top = fits ? place.bottom : Math.max(0, place.top - menu.offsetHeight);
  menu.style.top = `${scrollY + top}px`;
  menu.style.left = `${scrollX + Math.max(4, place.right - menu.offsetWidth)}px`;
  menu.querySelector("button").focus();
}

/** What the menu has without any action; it has the focus like any item, so that it is read out. */
function nothing() {
  const attributes = { type: "button", role: "menuitem", "aria-disabled": "true", tabindex: "-1" };
  return element("button", attributes, NOTHING);
}

byId("menu").addEventListener("toggle", (event) => {
  if (event.newState === "open") return;
  menuButton.setAttribute("aria-expanded", "false");
  // Unless the reader has gone elsewhere: the focus may linger in the closed menu for a frame.
  const focused = document.activeElement;
  if (focused === document.body || event.target.contains(focused)) menuButton.focus();
});

byId("menu").addEventListener("keydown", (event) => {
  const items = [...byId("menu").querySelectorAll("button")];
  const at = items.indexOf(document.activeElement);
  const last = items.length - 1;
  const to = { ArrowDown: at + 1, ArrowUp: at + last, Home: 0, End: last }[event.key];
  if (event.key === "Tab") byId("menu").hidePopover();
  if (to === undefined || items.length === 0) return;
  event.preventDefault();
  items[to % items.length].focus();
});
