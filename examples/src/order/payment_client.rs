use reqwest::StatusCode;
use resilience::{CallError, ErrorKind, circuit_breaker, time_limiter};

use super::PaymentState;
use crate::{
    payment::{Payment, PaymentRequest, PaymentStatus},
    peer::{Peer, TransportError},
};

/// Why the payment service has no payment to show.
#[derive(Debug, thiserror::Error, ErrorKind)]
pub enum PaymentCallError {
    /// The provider declined.
    #[error("the payment was declined")]
    #[error_kind("http_4xx")]
    Declined,
    /// The payment service did not accept the request as it was.
    #[error("the payment service answered {0}")]
    #[error_kind("http_4xx")]
    Refused(StatusCode),
    /// The payment service failed.
    #[error("the payment service answered {0}")]
    #[error_kind("http_5xx")]
    Failed(StatusCode),
    /// The payment service was not reached, or its answer did not arrive.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A protection refused the call or cut it short.
    #[error(transparent)]
    Protected(#[from] resilience::Error),
}

/// The way to the payment service.
#[derive(Debug, Clone)]
pub struct PaymentClient {
    peer: Peer,
}

impl PaymentClient {
    /// Asks this payment service.
    pub fn new(peer: Peer) -> Self {
        Self { peer }
    }

    /// Pays under a key that is the same on every attempt.
    ///
    /// # Errors
    ///
    /// [`PaymentCallError::Declined`] and nothing else: whatever leaves the outcome open is
    /// [`PaymentState::Pending`] to the customer and settled later.
    #[circuit_breaker(name = "paymentServiceCb", fallback = pay_later)]
    #[time_limiter(name = "paymentServiceTl")]
    pub async fn pay(
        &self,
        key: &str,
        request: &PaymentRequest,
    ) -> Result<PaymentState, PaymentCallError> {
        let answer = self.peer.post("/payments", Some(key), request).await?;
        match answer.status() {
            status if status.is_success() => Ok(state(answer.json::<Payment>()?.status)),
            StatusCode::PAYMENT_REQUIRED => Err(PaymentCallError::Declined),
            status if status.is_client_error() => Err(PaymentCallError::Refused(status)),
            status => Err(PaymentCallError::Failed(status)),
        }
    }
}

fn state(status: PaymentStatus) -> PaymentState {
    match status {
        PaymentStatus::Approved => PaymentState::Approved,
        PaymentStatus::Rejected => PaymentState::Rejected,
        PaymentStatus::Requested | PaymentStatus::Timeout => PaymentState::Pending,
    }
}

/// A partial success that is true: the order stands, the payment is settled later.
fn pay_later(error: CallError<PaymentCallError>) -> Result<PaymentState, PaymentCallError> {
    match error {
        CallError::Inner(PaymentCallError::Declined) => Err(PaymentCallError::Declined),
        unknown => {
            tracing::warn!(error = %unknown, "a payment is left pending");
            Ok(PaymentState::Pending)
        }
    }
}
