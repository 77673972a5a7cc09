use axum::{Router, extract::State, http::StatusCode, routing::post};

use super::{Release, Reservation, StockStore};
use crate::{
    faults::Faults,
    web::{ApiError, Json, health},
};

/// Routes `POST /inventory/reserve` and `/inventory/release`, `PUT /faults`, `/livez`, `/readyz`.
pub fn routes(store: StockStore) -> Router {
    let inventory = Router::new()
        .route("/inventory/reserve", post(reserve))
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
