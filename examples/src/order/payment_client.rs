use axum::body::Bytes;
use reqwest::StatusCode;
use resilience::{CallError, ErrorKind, circuit_breaker, retry, time_limiter};

use super::PaymentState;
use crate::{
    access::{ACCESS_UNKNOWN, USER, UserId},
    payment::{Payment, PaymentRequest, PaymentStatus},
    peer::{Answer, Peer, TransportError},
    web::IDEMPOTENCY_KEY,
};

/// Why the payment service has no payment to show.
#[derive(Debug, thiserror::Error, ErrorKind)]
pub enum PaymentCallError {
    /// The provider declined.
    #[error("the payment was declined")]
    #[error_kind("http_4xx")]
    Declined,
    /// Whether the user may pay is not known now: nothing was done, and nothing is wrong with the
    /// payment service.
    #[error("whether the user may pay cannot be told now")]
    AccessUnknown,
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
    #[error_kind(from)]
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

    /// Pays for this user, under a key that is the same on every attempt.
    ///
    /// # Errors
    ///
    /// [`PaymentCallError::Declined`] and nothing else: whatever leaves the outcome open is
    /// [`PaymentState::Pending`] to the customer and settled later.
    #[circuit_breaker(name = "paymentServiceCb", fallback = pay_later)]
    #[time_limiter(name = "paymentServiceTl")]
    pub async fn pay(
        &self,
        user: UserId,
        key: &str,
        request: &PaymentRequest,
    ) -> Result<PaymentState, PaymentCallError> {
        let user = user.digits();
        let headers = [(USER, user.as_str()), (IDEMPOTENCY_KEY, key)];
        let answer = self.peer.post("/payments", &headers, request).await?;
        match answer.status() {
            status if status.is_success() => Ok(answer.json::<Payment>()?.status.into()),
            StatusCode::PAYMENT_REQUIRED => Err(PaymentCallError::Declined),
            _ => Err(failed(&answer)),
        }
    }

    /// Asks what became of a payment; `None` if the payment service has never seen it.
    ///
    /// Queries have protections of their own: they find out what became of payments while, and
    /// because, payments fail.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    #[retry(name = "paymentQuery")]
    #[circuit_breaker(name = "paymentQueryCb")]
    #[time_limiter(name = "paymentQueryTl")]
    pub async fn find(&self, key: &str) -> Result<Option<PaymentState>, PaymentCallError> {
        let answer = self.peer.get(&format!("/payments/{key}")).await?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(Some(answer.json::<Payment>()?.status.into())),
            _ => Err(failed(&answer)),
        }
    }

    /// Passes on what the provider reports, as it was signed; `None` if there is no such payment.
    ///
    /// # Errors
    ///
    /// If the payment service does not take it.
    #[circuit_breaker(name = "paymentQueryCb")]
    #[time_limiter(name = "paymentQueryTl")]
    pub async fn report(
        &self,
        signature: &str,
        body: Bytes,
    ) -> Result<Option<Payment>, PaymentCallError> {
        let answer = self.peer.post_signed("/payments/callback", signature, body).await?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(Some(answer.json()?)),
            _ => Err(failed(&answer)),
        }
    }
}

impl From<PaymentStatus> for PaymentState {
    fn from(status: PaymentStatus) -> Self {
        match status {
            PaymentStatus::Approved => Self::Approved,
            PaymentStatus::Rejected => Self::Rejected,
            PaymentStatus::Requested | PaymentStatus::Timeout => Self::Pending,
        }
    }
}

fn failed(answer: &Answer) -> PaymentCallError {
    match answer.status() {
        status if status.is_client_error() => PaymentCallError::Refused(status),
        _ if answer.error_code() == ACCESS_UNKNOWN => PaymentCallError::AccessUnknown,
        status => PaymentCallError::Failed(status),
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
