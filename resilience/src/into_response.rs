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
