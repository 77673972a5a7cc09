//! Refusals as what axum's handlers return.

use axum_core::response::{IntoResponse, Response};

use crate::{CallError, Error, http_response};

/// With the feature `axum`, a handler may return a refusal as it is: the status is
/// [`Error::http_status`], `Retry-After` is [`Error::retry_after_seconds`] where that is known, and the
/// body is one line of text without any name.
///
/// # Examples
///
/// ```
/// use axum::{Router, routing::get};
/// use resilience::{Bulkhead, BulkheadConfig, Error};
///
/// let bulkhead = Bulkhead::new("stock", BulkheadConfig::default());
/// let stock = async move || -> Result<&str, Error> {
///     let _slot = bulkhead.acquire().await?;
///     Ok("7 pencils")
/// };
/// let app: Router = Router::new().route("/stock", get(stock));
/// # let _ = app;
/// ```
impl IntoResponse for Error {
    fn into_response(self) -> Response {
        http_response::of(&self)
    }
}

/// A refusal as [`Error`] has it, and what failed as it is by itself.
impl<E: IntoResponse> IntoResponse for CallError<E> {
    fn into_response(self) -> Response {
        match self {
            Self::Inner(error) => error.into_response(),
            Self::Resilience(refusal) => refusal.into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::{body::to_bytes, http::StatusCode};

    use super::*;
    use crate::{CircuitBreaker, CircuitBreakerConfig};

    fn refusal() -> Error {
        let breaker = CircuitBreaker::new("payment", CircuitBreakerConfig::default());
        breaker.transition_to_open_for(Duration::from_secs(90)).unwrap();
        breaker.try_acquire().unwrap_err().into()
    }

    #[tokio::test]
    async fn a_refusal_says_when_to_come_back_and_no_name() {
        let response = refusal().into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()["retry-after"], "90");
        assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
        let body = to_bytes(response.into_body(), 100).await.unwrap();
        assert_eq!(body, "temporarily unavailable");
    }

    #[test]
    fn what_a_call_ended_in_is_a_response_of_its_own() {
        let of = |error: CallError<StatusCode>| error.into_response().status();
        assert_eq!(of(CallError::Inner(StatusCode::NOT_FOUND)), StatusCode::NOT_FOUND);
        assert_eq!(of(CallError::Resilience(refusal())), StatusCode::SERVICE_UNAVAILABLE);
    }
}
