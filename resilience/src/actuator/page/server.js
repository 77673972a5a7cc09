// What the server tells, through one stream of events.

import { byId, setText } from "./dom.js";
import { moment } from "./words.js";

const RETRY_MS = [500, 1000, 2000, 5000, 10000];
const ANSWER_MS = 5000;

/** After so many heartbeats' time without any event the connection is dead: nothing else may say so. */
const MISSED = 2.5;

/** `ahead` is how much the server's clock is, which need not be the reader's. */
export const server = { seen: false, application: null, writable: false, ahead: 0 };

export const serverNow = () => Date.now() + server.ahead;

/** Follows the stream, and comes back by itself: the browser's own way gives up on some answers. */
export function follow(told) {
  let failures = 0;
  let heardAt = null;

  const values = (message, complete) => {
    server.seen = true;
    server.application = message.application;
    server.writable = message.writable;
    server.ahead = Date.parse(message.time) - Date.now();
    told.values(message, { complete });
  };

  const connect = () => {
    const stream = new EventSource("actuator/stream");
    let silence;
    let heartbeatMs = 10000;

    const lost = async () => {
      clearTimeout(silence);
      // It is closed only if the server has answered with something else than a stream.
      const refused = stream.readyState === EventSource.CLOSED;
      stream.close();
      const reason = refused ? await refusal() : null;
      const old = heardAt ? `: values are from ${moment(heardAt)}` : "";
      const text = reason === null ? `connection lost${old}` : `no connection (${reason})${old}`;
      showConnection("lost", `${text}; trying again…`);
      setTimeout(connect, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);
      failures += 1;
    };

    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(lost, MISSED * heartbeatMs);
    };

    const on = (name, listener) =>
      stream.addEventListener(name, ({ data }) => {
        const message = JSON.parse(data);
        heardAt = new Date();
        listener?.(message);
        heard();
      });

    on("snapshot", (message) => {
      failures = 0;
      values(message, true);
      showConnection("live", "live");
    });
    on("update", (message) => values(message, false));
    on("transition", told.transition);
    on("heartbeat", ({ everyMs }) => (heartbeatMs = everyMs));
    on("lost");
    stream.addEventListener("error", lost);
    heard();
  };

  connect();
}

/** Asks why there is no stream; returns null if nobody says. */
async function refusal() {
  const asked = new AbortController();
  const late = setTimeout(() => asked.abort(), ANSWER_MS);
  try {
    const answer = await fetch("actuator/stream", { signal: asked.signal });
    return answer.ok ? null : (await answer.json()).message;
  } catch {
    return null;
  } finally {
    // A stream that there is now would go on.
    clearTimeout(late);
    asked.abort();
  }
}

function showConnection(state, text) {
  byId("connection").dataset.state = state;
  setText(byId("connection-text"), text);
  byId("layout").classList.toggle("stale", state === "lost");
}
