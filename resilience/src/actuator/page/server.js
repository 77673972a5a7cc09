// What the server tells, through one stream of events.

import { byId, setText } from "./dom.js";
import { clock } from "./words.js";

const RETRY_MS = [500, 1000, 2000, 5000, 10000];

/** `ahead` is how much the server's clock is, which need not be the reader's. */
export const server = { seen: false, application: null, writable: false, ahead: 0 };

export const serverNow = () => Date.now() + server.ahead;

/** Follows the stream, and comes back by itself: the browser's own way gives up on some answers. */
export function follow(told) {
  let failures = 0;
  let lostAt = "";

  const values = (event, complete) => {
    const message = JSON.parse(event.data);
    server.seen = true;
    server.application = message.application;
    server.writable = message.writable;
    server.ahead = Date.parse(message.time) - Date.now();
    told.values(message, { complete });
  };

  const connect = () => {
    const stream = new EventSource("actuator/stream");
    stream.addEventListener("snapshot", (event) => {
      failures = 0;
      values(event, true);
      showConnection("live", "live");
    });
    stream.addEventListener("update", (event) => values(event, false));
    stream.addEventListener("transition", (event) => told.transition(JSON.parse(event.data)));
    stream.addEventListener("error", () => {
      stream.close();
      if (failures === 0) lostAt = clock.format(new Date());
      const old = server.seen ? `: values are from ${lostAt}` : "";
      showConnection("lost", `connection lost${old}; trying again…`);
      setTimeout(connect, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);
      failures += 1;
    });
  };

  connect();
}

function showConnection(state, text) {
  byId("connection").dataset.state = state;
  setText(byId("connection-text"), text);
  byId("layout").classList.toggle("stale", state === "lost");
}
