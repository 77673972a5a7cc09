// The live page: one stream of events feeds a table per pattern and a list of transitions.
// Rows are made once per instance; only what differs is written to them, a few times a second at most.

import { byId, element, setText } from "./dom.js";
import { PATTERNS } from "./patterns.js";
import { follow, server } from "./server.js";
import { Table } from "./table.js";
import { addTransition, drawTransitions, restartTransitions, tickTransitions } from "./timeline.js";
import { onView, readAddress } from "./view.js";
import { count, stateWord } from "./words.js";

/** Told even if no breaker is in such a state. */
const ALWAYS_TOLD = ["OPEN", "HALF_OPEN"];

/** What arrives within this time is drawn at once: many breakers may open together. */
const TOGETHER_MS = 50;

const tables = new Map(PATTERNS.map((pattern) => [pattern.list, new Table(pattern)]));
const breakers = tables.get("circuitBreakers");
/** Of what instances share, if they share anything. */
let store = null;
let drawScheduled = false;

for (const [list, table] of tables) {
  byId("instances").append(table.element);
  byId("pattern").append(element("option", { value: list }, table.pattern.title.toLowerCase()));
}

onView(() => {
  for (const table of tables.values()) table.changed = true;
  scheduleDraw();
});
// After the options are there.
readAddress();

follow({
  values(message, { complete }) {
    if (complete) restartTransitions(message.transitions);
    store = message.store ?? null;
    for (const [list, table] of tables) {
      const instances = message[list] ?? [];
      if (complete) table.keepOnly(instances);
      for (const name of message.removed?.[list] ?? []) table.remove(name);
      for (const instance of instances) table.update(instance);
    }
    scheduleDraw();
  },
  transition(transition) {
    addTransition(transition);
    scheduleDraw();
  },
});

// Ages and waits go on without the server.
setInterval(() => {
  breakers.tick();
  tickTransitions();
}, 1000);

function scheduleDraw() {
  if (drawScheduled) return;
  drawScheduled = true;
  setTimeout(() => requestAnimationFrame(draw), TOGETHER_MS);
}

function draw() {
  drawScheduled = false;
  for (const table of tables.values()) table.draw();
  drawSummary();
  drawTransitions();
}

function drawSummary() {
  let [all, shown] = [0, 0];
  for (const table of tables.values()) {
    all += table.rows.size;
    shown += table.shown;
  }
  const states = [...breakers.rows.values()].map((row) => row.instance.state);
  const parts = [`${count(all)} ${all === 1 ? "instance" : "instances"}`];
  for (const state of ["OPEN", "HALF_OPEN", "FORCED_OPEN", "DISABLED", "METRICS_ONLY"]) {
    const many = states.filter((other) => other === state).length;
    if (many > 0 || ALWAYS_TOLD.includes(state)) parts.push(`${count(many)} ${stateWord(state)}`);
  }
  if (store?.degraded) parts.push("the shared store is away");
  setText(byId("summary"), parts.join(" · "));
  setText(byId("application"), server.application ?? "");
  document.title = ["Resilience", server.application, parts[1]].filter(Boolean).join(" · ");
  byId("nothing").hidden = shown > 0;
  if (!server.seen) return;
  setText(byId("nothing"), all ? "No instance matches the filter." : "There are no instances yet.");
}
