use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::{get, post},
};
use resilience::bulkhead;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Ledger, Verdict};
use crate::{
    faults::Faults,
    web::{ApiError, Json, health, idempotency_key},
};

/// What `POST /charges` takes.
#[derive(Debug, Deserialize)]
struct ChargeRequest {
    amount: i64,
}

/// Routes `POST /charges`, `GET /ledger`, `PUT /faults`, `/livez` and `/readyz`.
///
/// The faults are those of charges; the ledger can always be read.
pub fn routes(ledger: Ledger) -> Router {
    let charges = Router::new().route("/charges", post(charge)).with_state(ledger.clone());
    let ledger = Router::new().route("/ledger", get(read)).with_state(ledger);
    Faults::default().around(charges).merge(ledger).merge(health((), async |()| true))
}

async fn charge(
    State(ledger): State<Ledger>,
    headers: HeaderMap,
    Json(request): Json<ChargeRequest>,
) -> Result<Json<Value>, ApiError> {
    let key = idempotency_key(&headers)?;
    match ledger.charge(key, request.amount) {
        Some(Verdict::Approved) => Ok(Json(json!({ "verdict": Verdict::Approved }))),
        Some(Verdict::Declined) => {
            let message = "the amount is above the card's limit";
            Err(ApiError::new(StatusCode::PAYMENT_REQUIRED, "DECLINED", message))
        }
        None => Err(ApiError::key_reused()),
    }
}

/// The whole ledger, for a few at a time. A refusal is a response as it is.
#[bulkhead(name = "ledgerBh")]
async fn read(State(ledger): State<Ledger>) -> Result<Json<Value>, resilience::Error> {
    Ok(Json(json!({ "charges": ledger.charges() })))
}
