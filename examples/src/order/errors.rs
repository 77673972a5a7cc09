use axum::http::StatusCode;
use serde_json::json;

use super::{InventoryError, Order, PaymentCallError};
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
    /// The inventory keeps nothing for the order, which was not placed.
    #[error("nothing was ordered")]
    NotPlaced(#[source] InventoryError),
    /// The order was withdrawn before its payment was begun, by a sweep or by another process.
    #[error("the order was withdrawn meanwhile; nothing was ordered")]
    Withdrawn,
    /// The inventory did not confirm a reservation for an order that stands all the same: somebody has
    /// gone on with it, and it may have been charged.
    #[error("order '{}' stands, not known to be paid", order.order_id)]
    Unreserved {
        /// The order that stands.
        order: Box<Order>,
        /// Why there is no reservation, or none that is known.
        #[source]
        cause: InventoryError,
    },
    /// The order was placed and its payment declined.
    #[error("the payment was declined; the order stands and can be paid again")]
    Declined(Box<Order>),
    /// The outcome of the payment is unknown: a second one might be one too many.
    #[error("the outcome of the payment is not known yet; it is being found out")]
    Pending(Box<Order>),
    /// There is no such order.
    #[error("there is no order '{0}'")]
    Unknown(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// The payment service did not take what the provider reports.
    #[error("the report cannot be taken now")]
    Untold(#[from] PaymentCallError),
    /// The task that withdraws the order died.
    #[error("the order was cut short: {0}")]
    CutShort(#[from] tokio::task::JoinError),
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
            OrderError::Withdrawn => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Self::refused(status, "DEPENDENCY_UNAVAILABLE", message, None)
            }
            OrderError::NotPlaced(cause) => Self::from(cause).and(&message),
            OrderError::Unreserved { order, cause } => {
                Self::from(cause).and(&message).with_order(*order)
            }
            OrderError::Declined(order) => {
                Self::new(StatusCode::PAYMENT_REQUIRED, "PAYMENT_DECLINED", message)
                    .with_order(*order)
            }
            OrderError::Pending(order) => {
                Self::new(StatusCode::CONFLICT, "PAYMENT_PENDING", message).with_order(*order)
            }
            OrderError::Unknown(id) => Self::not_found(format!("order '{id}'")),
            OrderError::Database(error) => error.into(),
            OrderError::CutShort(error) => Self::internal(&error),
            OrderError::Untold(PaymentCallError::Protected(error))
            | OrderError::Protected(error) => error.into(),
            OrderError::Untold(error) => {
                tracing::warn!(%error, "a report of the provider was not taken");
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Self::refused(status, "DEPENDENCY_UNAVAILABLE", message, None)
            }
        }
    }
}

impl ApiError {
    /// Says that this order stands, and how.
    fn with_order(self, order: Order) -> Self {
        self.with("order_id", order.order_id)
            .with("status", json!(order.status))
            .with("payment_status", json!(order.payment_status))
    }
}

impl From<InventoryError> for ApiError {
    fn from(error: InventoryError) -> Self {
        let message = error.to_string();
        match error {
            InventoryError::OutOfStock => Self::new(StatusCode::CONFLICT, "OUT_OF_STOCK", message),
            InventoryError::UnknownSku => Self::new(StatusCode::NOT_FOUND, "UNKNOWN_SKU", message),
            InventoryError::Forbidden => Self::forbidden(),
            InventoryError::AccessUnknown { retry_after } => Self::access_unknown(retry_after),
            InventoryError::Protected(error) => error.into(),
            // It may be tried again; no wait is known to be long enough.
            InventoryError::Failed(_) | InventoryError::Transport(_) => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                tracing::warn!(error = message, "the inventory failed");
                let message = "the inventory did not do its work";
                Self::refused(status, "DEPENDENCY_UNAVAILABLE", message, None)
            }
            InventoryError::Refused(_) => Self::internal(&message),
        }
    }
}
