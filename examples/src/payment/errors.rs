use axum::http::StatusCode;

use super::Payment;
use crate::web::ApiError;

/// Why `POST /payments` has no payment to show.
#[derive(Debug, thiserror::Error)]
pub enum PaymentError {
    /// The request makes no sense.
    #[error("amount = {0}: expected more than 0")]
    InvalidAmount(i64),
    /// The provider declined.
    #[error("the provider declined the payment")]
    Declined(Payment),
    /// The key names a payment that is being made right now.
    #[error("payment '{0}' is already in progress")]
    InProgress(String),
    /// The key names another payment.
    #[error("the idempotency key was used for another payment")]
    KeyReused,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// The task that makes the payment died.
    #[error("the payment was cut short: {0}")]
    CutShort(#[from] tokio::task::JoinError),
}

impl From<PaymentError> for ApiError {
    fn from(error: PaymentError) -> Self {
        let message = error.to_string();
        match error {
            PaymentError::InvalidAmount(_) => Self::bad_request("INVALID_AMOUNT", message),
            PaymentError::Declined(payment) => {
                Self::new(StatusCode::PAYMENT_REQUIRED, "PAYMENT_DECLINED", message)
                    .with("idempotency_key", payment.idempotency_key)
                    .with("order_id", payment.order_id)
                    .with("status", "REJECTED")
            }
            PaymentError::InProgress(_) => {
                Self::new(StatusCode::CONFLICT, "ALREADY_IN_PROGRESS", message)
            }
            PaymentError::KeyReused => Self::key_reused(),
            PaymentError::Database(error) => error.into(),
            PaymentError::CutShort(error) => Self::internal(&error),
        }
    }
}
