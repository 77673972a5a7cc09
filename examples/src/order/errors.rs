use axum::http::StatusCode;

use super::{InventoryError, Order};
use crate::web::ApiError;

/// Why an order was not placed, or not paid.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// The same order is being placed right now: a double click.
    #[error("the order is already in progress")]
    InProgress,
    /// The client's key names another order.
    #[error("the idempotency key was used for another order")]
    KeyReused,
    /// The inventory keeps nothing for the order.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// The order was placed and its payment declined.
    #[error("the payment was declined; the order stands and can be paid again")]
    Declined(Box<Order>),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// A protection refused the request.
    #[error(transparent)]
    Protected(#[from] resilience::Error),
}

impl From<OrderError> for ApiError {
    fn from(error: OrderError) -> Self {
        let message = error.to_string();
        match error {
            OrderError::Invalid(_) => Self::bad_request("INVALID_ORDER", message),
            OrderError::InProgress => {
                Self::new(StatusCode::CONFLICT, "ALREADY_IN_PROGRESS", message)
            }
            OrderError::KeyReused => Self::key_reused(),
            OrderError::Inventory(error) => error.into(),
            OrderError::Declined(order) => {
                Self::new(StatusCode::PAYMENT_REQUIRED, "PAYMENT_DECLINED", message)
                    .with("order_id", order.order_id)
                    .with("status", "ORDERED")
                    .with("payment_status", "REJECTED")
            }
            OrderError::Database(error) => error.into(),
            OrderError::Protected(error) => error.into(),
        }
    }
}

impl From<InventoryError> for ApiError {
    fn from(error: InventoryError) -> Self {
        let message = error.to_string();
        match error {
            InventoryError::OutOfStock => Self::new(StatusCode::CONFLICT, "OUT_OF_STOCK", message),
            InventoryError::UnknownSku => Self::new(StatusCode::NOT_FOUND, "UNKNOWN_SKU", message),
            InventoryError::Protected(error) => error.into(),
            // The order was not placed and may be tried again; no wait is known to be long enough.
            InventoryError::Failed(_) | InventoryError::Transport(_) => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                tracing::warn!(error = message, "the inventory failed");
                let message = "the inventory cannot be reached; the order was not placed";
                Self::refused(status, "DEPENDENCY_UNAVAILABLE", message, None)
            }
            InventoryError::Refused(_) => Self::internal(&message),
        }
    }
}
