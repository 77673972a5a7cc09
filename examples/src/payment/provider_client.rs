use reqwest::StatusCode;
use resilience::{CallError, ErrorKind, circuit_breaker, time_limiter};
use serde_json::json;

use crate::peer::{Peer, TransportError};

/// What is known once the provider was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The provider took the money.
    Approved,
    /// No answer that can be relied on: the provider may have charged.
    Unknown,
}

/// Why a charge was not approved.
///
/// The groups are what `ignore_errors` in the configuration goes by: a declined card says nothing
/// about the provider's health.
#[derive(Debug, thiserror::Error, ErrorKind)]
pub enum ProviderError {
    /// The provider declined: nothing was charged.
    #[error("the provider declined")]
    #[error_kind("http_4xx")]
    Declined,
    /// The provider did not accept the request as it was.
    #[error("the provider answered {0}")]
    #[error_kind("http_4xx")]
    Refused(StatusCode),
    /// The provider failed.
    #[error("the provider answered {0}")]
    #[error_kind("http_5xx")]
    Failed(StatusCode),
    /// The provider was not reached, or its answer did not arrive.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A protection refused the call or cut it short.
    #[error(transparent)]
    Protected(#[from] resilience::Error),
}

/// The way to the provider.
#[derive(Debug, Clone)]
pub struct ProviderClient {
    peer: Peer,
}

impl ProviderClient {
    /// Asks this provider.
    pub fn new(peer: Peer) -> Self {
        Self { peer }
    }

    /// Charges `amount` under a key that is the same however often the charge is asked for.
    ///
    /// # Errors
    ///
    /// [`ProviderError::Declined`] and nothing else: the fallback turns whatever leaves the outcome
    /// open into [`Verdict::Unknown`]. It runs outside of the breaker, which has counted the
    /// failure by then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not undo the charge.
    #[circuit_breaker(name = "paymentCb", fallback = settle_later)]
    #[time_limiter(name = "paymentTl")]
    pub async fn charge(&self, key: &str, amount: i64) -> Result<Verdict, ProviderError> {
        let answer = self.peer.post("/charges", Some(key), &json!({ "amount": amount })).await?;
        match answer.status() {
            status if status.is_success() => Ok(Verdict::Approved),
            StatusCode::PAYMENT_REQUIRED => Err(ProviderError::Declined),
            status if status.is_client_error() => Err(ProviderError::Refused(status)),
            status => Err(ProviderError::Failed(status)),
        }
    }
}

/// A failed call is not a declined payment: only the provider's own word makes it one.
fn settle_later(error: CallError<ProviderError>) -> Result<Verdict, ProviderError> {
    match error {
        CallError::Inner(ProviderError::Declined) => Err(ProviderError::Declined),
        unknown => {
            tracing::warn!(error = %unknown, "the outcome of a charge is unknown");
            Ok(Verdict::Unknown)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_providers_own_word_makes_a_payment_declined() {
        let declined = settle_later(CallError::Inner(ProviderError::Declined));
        assert!(matches!(declined, Err(ProviderError::Declined)), "{declined:?}");

        for status in [StatusCode::BAD_REQUEST, StatusCode::FORBIDDEN] {
            let refused = settle_later(CallError::Inner(ProviderError::Refused(status)));
            assert!(matches!(refused, Ok(Verdict::Unknown)), "{refused:?}");
        }
        let failed = ProviderError::Failed(StatusCode::INTERNAL_SERVER_ERROR);
        let failed = settle_later(CallError::Inner(failed));
        assert!(matches!(failed, Ok(Verdict::Unknown)), "{failed:?}");
    }
}
