use axum::{
    Router,
    extract::State,
    http::HeaderMap,
    routing::{get, post},
};

use super::{Payment, PaymentRequest, PaymentService};
use crate::web::{ApiError, Json, Path, health, idempotency_key};

/// Routes `POST /payments`, `GET /payments/{key}`, `/livez` and `/readyz`.
pub fn routes(service: PaymentService) -> Router {
    let health = health(service.clone(), async |service: PaymentService| service.is_ready().await);
    Router::new()
        .route("/payments", post(pay))
        .route("/payments/{key}", get(read))
        .with_state(service)
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
