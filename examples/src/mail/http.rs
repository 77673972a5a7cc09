use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::{get, post},
};

use super::{Mail, Outbox, Sent};
use crate::{
    access::UserId,
    faults::Faults,
    web::{ApiError, Json, health},
};

/// Routes `POST /mails`, `GET /mails`, `PUT /faults`, `/livez` and `/readyz`.
///
/// The faults are those of sending; what was sent can always be read.
pub fn routes(outbox: Outbox) -> Router {
    let sending = Router::new().route("/mails", post(send)).with_state(outbox.clone());
    let beside = Router::new().route("/mails", get(sent)).with_state(outbox);
    Faults::default().around(sending).merge(beside).merge(health((), async |()| true))
}

/// Takes a mail for the user in the header.
async fn send(
    State(outbox): State<Outbox>,
    headers: HeaderMap,
    Json(mail): Json<Mail>,
) -> Result<StatusCode, ApiError> {
    UserId::of(&headers)?;
    outbox.send(mail);
    Ok(StatusCode::ACCEPTED)
}

async fn sent(State(outbox): State<Outbox>) -> Json<Sent> {
    Json(outbox.sent())
}
