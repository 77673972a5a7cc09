use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::StatusCode;
use resilience::{CallError, ErrorKind, circuit_breaker, retry, time_limiter};
use serde::Deserialize;
use serde_json::json;

use crate::{
    peer::{Answer, Peer, TransportError},
    pg,
    web::IDEMPOTENCY_KEY,
};

/// What is known once a provider was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The provider took the money.
    Approved,
    /// The provider declined: nothing was charged.
    Declined,
    /// The provider has not seen the charge: somebody else may be asked.
    NotAsked,
    /// The provider does not take the charge, by its own word: nothing was charged, and somebody else
    /// may be asked. That word is taken for its last one on this charge: a provider that had room again
    /// might still take a request that is on its way from earlier, and two would charge.
    NotTaken,
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
    /// The provider has no room for more charges: nothing was charged. A failure of its own, and of
    /// a kind of its own, as it is no use to try again.
    #[error("the provider has no room for the charge")]
    Full,
    /// The provider failed.
    #[error("the provider answered {0}")]
    #[error_kind("http_5xx")]
    Failed(StatusCode),
    /// The provider was not reached, or its answer did not arrive.
    #[error(transparent)]
    #[error_kind(from)]
    Transport(#[from] TransportError),
    /// A protection refused the call or cut it short.
    #[error(transparent)]
    Protected(#[from] resilience::Error),
}

/// What a provider is asked for.
#[derive(Debug)]
pub struct Charge<'a> {
    reference: &'a str,
    amount: i64,
    /// Whether a request of any attempt may have arrived and been taken. The error of the last attempt
    /// says nothing about the ones before it.
    may_have_arrived: AtomicBool,
}

impl<'a> Charge<'a> {
    /// Asks for `amount`, for the payment that `reference` names.
    pub fn new(reference: &'a str, amount: i64) -> Self {
        Self { reference, amount, may_have_arrived: AtomicBool::new(false) }
    }
}

/// The way to one provider.
#[derive(Debug, Clone)]
pub struct ProviderClient {
    name: &'static str,
    is_first: bool,
    peer: Peer,
}

impl ProviderClient {
    /// Asks the provider that payments are meant for.
    pub fn first(name: &'static str, peer: Peer) -> Self {
        Self { name, is_first: true, peer }
    }

    /// Asks a provider that takes what another one cannot.
    pub fn other(name: &'static str, peer: Peer) -> Self {
        Self { name, is_first: false, peer }
    }

    /// What the provider is called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Asks for a charge, under the [key](resilience::idempotency_key) of the call: however often that
    /// is, the provider charges once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not undo the charge.
    pub async fn charge(&self, charge: &Charge<'_>) -> Verdict {
        let verdict = if self.is_first {
            self.charge_first(charge).await
        } else {
            self.charge_other(charge).await
        };
        // The fallback leaves no error.
        verdict.unwrap_or(Verdict::Unknown)
    }

    #[retry(name = "payment")]
    #[circuit_breaker(name = "paymentCb", fallback = Self::what_is_known)]
    #[time_limiter(name = "paymentTl")]
    async fn charge_first(&self, charge: &Charge<'_>) -> Result<Verdict, ProviderError> {
        self.send(charge).await
    }

    // One declaration for all the others, and a breaker for each.
    #[retry(name = "payment")]
    #[circuit_breaker(name = "otherProviderCb", key = self.name, fallback = Self::what_is_known)]
    #[time_limiter(name = "paymentTl")]
    async fn charge_other(&self, charge: &Charge<'_>) -> Result<Verdict, ProviderError> {
        self.send(charge).await
    }

    async fn send(&self, charge: &Charge<'_>) -> Result<Verdict, ProviderError> {
        let key = resilience::idempotency_key().map(|key| key.to_string());
        let header = key.as_deref().map(|key| (IDEMPOTENCY_KEY, key));
        let body = json!({ "reference": charge.reference, "amount": charge.amount });
        // Before it is sent: who is cut short from here on cannot tell whether it was.
        let before = charge.may_have_arrived.swap(true, Ordering::Relaxed);
        let answer = self.peer.post("/charges", header.as_slice(), &body).await;
        if let Err(TransportError::Connect(_) | TransportError::Unmade(_)) = answer {
            charge.may_have_arrived.store(before, Ordering::Relaxed);
        }
        let answer = answer?;
        match answer.status() {
            status if status.is_success() => Ok(Verdict::Approved),
            StatusCode::PAYMENT_REQUIRED => Err(ProviderError::Declined),
            StatusCode::INSUFFICIENT_STORAGE => {
                charge.may_have_arrived.store(before, Ordering::Relaxed);
                Err(ProviderError::Full)
            }
            _ => Err(failed(&answer)),
        }
    }

    /// A failed call is not a declined payment: only the provider's own word makes it one. It runs
    /// outside of the breaker, which has counted the failure by then.
    #[expect(clippy::unnecessary_wraps, reason = "a fallback returns what the function does")]
    fn what_is_known(
        &self,
        charge: &Charge<'_>,
        error: CallError<ProviderError>,
    ) -> Result<Verdict, ProviderError> {
        Ok(match error {
            CallError::Inner(ProviderError::Declined) => Verdict::Declined,
            error if charge.may_have_arrived.load(Ordering::Relaxed) => {
                tracing::warn!(provider = self.name, %error, "the outcome of a charge is unknown");
                Verdict::Unknown
            }
            CallError::Inner(ProviderError::Full) => {
                tracing::warn!(provider = self.name, "a provider has no room for charges");
                Verdict::NotTaken
            }
            error => {
                tracing::info!(provider = self.name, %error, "a provider could not be asked");
                Verdict::NotAsked
            }
        })
    }

    /// Asks what became of the charge that `key` names; `None` if the provider has never seen it.
    ///
    /// Queries have protections of their own: they find out what became of payments while, and
    /// because, payments fail.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    #[retry(name = "pgQuery")]
    #[circuit_breaker(name = "pgQueryCb", key = self.name)]
    #[time_limiter(name = "pgQueryTl")]
    pub async fn find(&self, key: &str) -> Result<Option<Verdict>, ProviderError> {
        #[derive(Deserialize)]
        struct Found {
            verdict: pg::Verdict,
        }

        let answer = self.peer.get(&format!("/charges/{key}")).await?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(Some(answer.json::<Found>()?.verdict.into())),
            _ => Err(failed(&answer)),
        }
    }
}

impl From<pg::Verdict> for Verdict {
    fn from(verdict: pg::Verdict) -> Self {
        match verdict {
            pg::Verdict::Approved => Self::Approved,
            pg::Verdict::Declined => Self::Declined,
        }
    }
}

fn failed(answer: &Answer) -> ProviderError {
    match answer.status() {
        status if status.is_client_error() => ProviderError::Refused(status),
        status => ProviderError::Failed(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(error: CallError<ProviderError>, may_have_arrived: bool) -> Verdict {
        let base = "http://127.0.0.1:9".parse().unwrap();
        let client = ProviderClient::first("A", Peer::new(&base).unwrap());
        let charge = Charge::new("r", 1);
        charge.may_have_arrived.store(may_have_arrived, Ordering::Relaxed);
        client.what_is_known(&charge, error).unwrap()
    }

    #[test]
    fn only_the_providers_own_word_makes_a_payment_declined() {
        let declined = || CallError::Inner(ProviderError::Declined);
        assert_eq!(known(declined(), true), Verdict::Declined);
        for status in
            [StatusCode::BAD_REQUEST, StatusCode::FORBIDDEN, StatusCode::UNPROCESSABLE_ENTITY]
        {
            let refused = CallError::Inner(ProviderError::Refused(status));
            assert_eq!(known(refused, true), Verdict::Unknown, "{status}");
        }
        let failed = ProviderError::Failed(StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(known(CallError::Inner(failed), true), Verdict::Unknown);
    }

    #[test]
    fn a_provider_without_room_has_not_taken_the_charge_unless_an_attempt_before_may_have_arrived()
    {
        let full = || CallError::Inner(ProviderError::Full);
        assert_eq!(known(full(), false), Verdict::NotTaken);
        assert_eq!(known(full(), true), Verdict::Unknown);
    }

    #[test]
    fn a_refusal_after_an_attempt_that_may_have_charged_leaves_the_outcome_unknown() {
        let breaker =
            resilience::CircuitBreaker::new("b", resilience::CircuitBreakerConfig::default());
        breaker.transition_to(resilience::circuit_breaker::State::ForcedOpen).unwrap();
        let open = || CallError::Resilience(breaker.try_acquire().unwrap_err().into());
        assert_eq!(known(open(), true), Verdict::Unknown);
        assert_eq!(known(open(), false), Verdict::NotAsked);
    }
}
