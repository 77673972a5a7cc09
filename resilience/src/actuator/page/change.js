// The dialog that asks before anything is changed, and the request that changes it.

import { byId, setText } from "./dom.js";

const ANSWER_MS = 10000;

const REFUSALS = {
  401: "The token is wrong. Nothing was changed.",
  403: "The server has no token configured, so it takes no changes. Nothing was changed.",
  404: "There is no circuit breaker of this name any more. Nothing was changed.",
  409: "The circuit breaker cannot go there from the state it is in. Nothing was changed.",
};
const UNKNOWN =
  "The server did not answer as it should. Whether anything was changed is not known: look at the state.";

// Kept here only: in no address and no storage, and gone with the page.
let token = "";
let change = null;

/** Asks the reader, and gives the focus back to `button` in the end. */
export function confirmChange(action, name, button) {
  change = { action, name, button };
  setText(byId("confirm-title"), `${action.title}: ${name}`);
  setText(byId("confirm-does"), action.does);
  setText(byId("apply"), action.title);
  setText(byId("confirm-error"), "");
  byId("token").value = token;
  byId("confirm").showModal();
  (token ? byId("apply") : byId("token")).focus();
}

byId("cancel").addEventListener("click", () => byId("confirm").close());
byId("confirm").addEventListener("close", () => {
  byId("token").value = "";
  change.button.focus();
});
byId("confirm-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const asked = change;
  const given = byId("token").value;
  byId("apply").disabled = true;
  setText(byId("confirm-error"), "");
  const refusal = await send(asked, given);
  byId("apply").disabled = false;
  token = refusal === REFUSALS[401] ? "" : given;
  // The reader may have closed it and be asking for something else by now.
  if (change !== asked || !byId("confirm").open) return;
  if (refusal === null) {
    byId("confirm").close();
  } else {
    setText(byId("confirm-error"), refusal);
    byId("token").focus();
    byId("token").select();
  }
});

/** Asks the server for the change; returns why it did not happen, or null. */
async function send({ action, name }, given) {
  // A header cannot carry all characters; those that it cannot are in no token.
  const bearer = `Bearer ${given.replace(/[^\x21-\x7e]/g, "?")}`;
  try {
    const answer = await fetch(`actuator/circuitbreakers/${encodeURIComponent(name)}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: bearer },
      body: JSON.stringify({ updateState: action.state }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (answer.ok) return null;
    if (answer.status >= 500) return UNKNOWN;
    const other = `The server refused it with status ${answer.status}. Nothing was changed.`;
    return REFUSALS[answer.status] ?? other;
  } catch {
    return UNKNOWN;
  }
}
