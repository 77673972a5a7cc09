use axum::{
    Router,
    extract::State,
    http::HeaderMap,
    middleware::from_fn_with_state,
    routing::{get, post},
};

use super::{Payment, PaymentRequest, PaymentService};
use crate::{
    access::{AccessGate, user_in_header},
    web::{ApiError, Body, Json, Path, Secret, health, idempotency_key, signed},
};

/// Routes `POST /payments`, `GET /payments/{key}`, `POST /payments/callback`, `/livez` and `/readyz`.
///
/// Who pays goes through the gate; what becomes of a payment later does not depend on it. Without a
/// secret no callback is believed.
pub fn routes(service: PaymentService, secret: Option<Secret>, gate: AccessGate) -> Router {
    let for_user = from_fn_with_state(gate, user_in_header);
    let health = health(service.clone(), async |service: PaymentService| service.is_ready().await);
    let callback = Router::new()
        .route("/payments/callback", post(callback))
        .with_state((service.clone(), secret));
    Router::new()
        .route("/payments", post(pay).route_layer(for_user))
        .route("/payments/{key}", get(read))
        .with_state(service)
        .merge(callback)
        .merge(health)
}

async fn pay(
    State(service): State<PaymentService>,
    headers: HeaderMap,
    Json(request): Json<PaymentRequest>,
) -> Result<Json<Payment>, ApiError> {
    Ok(Json(service.pay(idempotency_key(&headers)?, request).await?))
}

async fn read(
    State(service): State<PaymentService>,
    Path(key): Path<String>,
) -> Result<Json<Payment>, ApiError> {
    let payment = service.find(&key).await?;
    payment.map(Json).ok_or_else(|| ApiError::not_found(format!("payment '{key}'")))
}

async fn callback(
    State((service, secret)): State<(PaymentService, Option<Secret>)>,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<Json<Payment>, ApiError> {
    let callback = signed(secret.as_ref(), &headers, &body)?;
    let payment = service.take(&callback).await?;
    payment
        .map(Json)
        .ok_or_else(|| ApiError::not_found(format!("payment '{}'", callback.reference)))
}
