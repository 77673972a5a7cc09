use axum::{
    Router, extract::State, http::StatusCode, middleware::from_fn_with_state, routing::post,
};

use super::{Release, Reservation, StockStore};
use crate::{
    access::{AccessGate, user_in_header},
    faults::Faults,
    web::{ApiError, Json, health},
};

/// Routes `POST /inventory/reserve` and `/inventory/release`, `PUT /faults`, `/livez`, `/readyz`.
///
/// Who reserves goes through the gate. Giving back is always allowed: it cleans up after a user who may
/// no longer, or of whom that is not known, as well.
pub fn routes(store: StockStore, gate: AccessGate) -> Router {
    let for_user = from_fn_with_state(gate, user_in_header);
    let inventory = Router::new()
        .route("/inventory/reserve", post(reserve).route_layer(for_user))
        .route("/inventory/release", post(release))
        .with_state(store.clone());
    let health = health(store, async |store: StockStore| store.is_ready().await);
    Faults::default().around(inventory).merge(health)
}

async fn reserve(
    State(store): State<StockStore>,
    Json(reservation): Json<Reservation>,
) -> Result<StatusCode, ApiError> {
    store.reserve(&reservation).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn release(
    State(store): State<StockStore>,
    Json(release): Json<Release>,
) -> Result<StatusCode, ApiError> {
    store.release(&release.order_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
