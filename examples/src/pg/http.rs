use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::{get, post, put},
};
use resilience::bulkhead;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Charge, Ledger, NotBooked, Verdict, WebhookPlan, Webhooks};
use crate::{
    faults::Faults,
    web::{ApiError, Json, Path, health, idempotency_key},
};

/// The longest reference of a charge, in bytes: the ledger keeps it for good.
const LONGEST_REFERENCE: usize = 200;

/// What `POST /charges` takes.
#[derive(Debug, Deserialize)]
struct ChargeRequest {
    reference: String,
    amount: i64,
}

/// What `PUT /limit` takes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    amount: i64,
}

/// The provider's parts.
#[derive(Debug, Clone)]
struct Provider {
    ledger: Ledger,
    webhooks: Option<Webhooks>,
}

/// Routes `POST /charges`, `GET /charges/{key}`, `GET /ledger`, `PUT /faults`, `PUT /limit`,
/// `PUT /webhooks`, `POST /webhooks`, `/livez` and `/readyz`.
///
/// The faults are those of charges; the ledger can always be read. Without webhooks nothing is
/// reported by itself.
pub fn routes(ledger: Ledger, webhooks: Option<Webhooks>) -> Router {
    let provider = Provider { ledger, webhooks };
    let charges = Router::new()
        .route("/charges", post(charge))
        .route("/charges/{key}", get(find))
        .with_state(provider.clone());
    let beside = Router::new()
        .route("/ledger", get(read))
        .route("/limit", put(limit))
        .route("/webhooks", put(plan).post(again))
        .with_state(provider);
    Faults::default().around(charges).merge(beside).merge(health((), async |()| true))
}

async fn charge(
    State(provider): State<Provider>,
    headers: HeaderMap,
    Json(request): Json<ChargeRequest>,
) -> Result<Json<Value>, ApiError> {
    let key = idempotency_key(&headers)?;
    if request.reference.len() > LONGEST_REFERENCE {
        let message = format!("reference: expected {LONGEST_REFERENCE} bytes at most");
        return Err(ApiError::bad_request("BAD_REFERENCE", message));
    }
    let charge = provider.ledger.charge(key, &request.reference, request.amount)?;
    let verdict = charge.verdict;
    if let Some(webhooks) = provider.webhooks.filter(|_| charge.requests == 1) {
        webhooks.announce(charge);
    }
    match verdict {
        Verdict::Approved => Ok(Json(json!({ "verdict": verdict }))),
        Verdict::Declined => {
            let message = "the amount is above the card's limit";
            Err(ApiError::new(StatusCode::PAYMENT_REQUIRED, "DECLINED", message))
        }
    }
}

async fn find(
    State(provider): State<Provider>,
    Path(key): Path<String>,
) -> Result<Json<Charge>, ApiError> {
    provider.ledger.find(&key).map(Json).ok_or_else(|| ApiError::not_found("such charge"))
}

/// The whole ledger, for a few at a time. A refusal is a response as it is.
#[bulkhead(name = "ledgerBh")]
async fn read(State(provider): State<Provider>) -> Result<Json<Value>, resilience::Error> {
    Ok(Json(json!({ "charges": provider.ledger.charges() })))
}

async fn limit(State(provider): State<Provider>, Json(limit): Json<Limit>) -> Json<Limit> {
    provider.ledger.set_limit(limit.amount);
    Json(limit)
}

async fn plan(
    State(provider): State<Provider>,
    Json(plan): Json<WebhookPlan>,
) -> Result<Json<WebhookPlan>, ApiError> {
    let plan = plan.check()?;
    provider.webhooks.ok_or_else(no_webhooks)?.set(plan);
    Ok(Json(plan))
}

/// Answers when all was reported; to hang up ends it.
async fn again(State(provider): State<Provider>) -> Result<StatusCode, ApiError> {
    provider.webhooks.ok_or_else(no_webhooks)?.report_again(&provider.ledger).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl From<NotBooked> for ApiError {
    fn from(error: NotBooked) -> Self {
        match error {
            NotBooked::KeyReused => Self::key_reused(),
            // A failure of the provider: nothing was booked, and who is told so does well to ask another
            // one. He may, as nothing ever makes room again for a request of his that arrives late.
            NotBooked::Full => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "LEDGER_FULL", error.to_string())
            }
        }
    }
}

fn no_webhooks() -> ApiError {
    ApiError::not_found("secret to sign webhooks with")
}
