use std::{fmt::Display, time::Duration};

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Map, Value, json};

/// An error as the client sees it: `{"error":"CODE","message":"…"}` with a status.
#[derive(Debug, Clone)]
pub struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    retry_after: Option<Duration>,
    details: Map<String, Value>,
}

impl ApiError {
    /// Creates an error; `code` is for programs, `message` for people.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, code, message, retry_after: None, details: Map::new() }
    }

    /// Creates an error that is the client's to correct.
    pub fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// Creates an error for something that does not exist.
    pub fn not_found(what: impl Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", format!("there is no {what}"))
    }

    /// Creates an error whose cause is logged and kept from the client.
    pub fn internal(cause: &dyn Display) -> Self {
        tracing::error!(%cause, "a request failed inside the service");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", "the service failed")
    }

    /// Creates an error for work that was not begun and can be asked for again.
    ///
    /// `retry_after` goes out in whole seconds, rounded up: a client that comes back earlier would
    /// be refused again. Who does not know when (a full bulkhead) says one second.
    pub fn refused(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        retry_after: Option<Duration>,
    ) -> Self {
        let mut error = Self::new(status, code, message);
        error.retry_after = Some(retry_after.unwrap_or(Duration::from_secs(1)));
        error
    }

    /// Adds to the message what people should know besides.
    #[must_use]
    pub fn and(mut self, more: &str) -> Self {
        self.message = format!("{}; {more}", self.message);
        self
    }

    /// Adds a field to the body.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.details.insert(field.to_owned(), value.into());
        self
    }
}

/// The library's refusals: 429 for what comes too fast, 503 for what cannot be served now.
impl From<resilience::Error> for ApiError {
    fn from(error: resilience::Error) -> Self {
        use resilience::Error;

        let (status, code) = match &error {
            Error::RequestNotPermitted(_) => (StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_REQUESTS"),
            Error::BulkheadFull(_) => (StatusCode::SERVICE_UNAVAILABLE, "DEPENDENCY_BUSY"),
            Error::TimedOut(_) => (StatusCode::SERVICE_UNAVAILABLE, "DEPENDENCY_TIMEOUT"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "DEPENDENCY_UNAVAILABLE"),
        };
        Self::refused(status, code, error.to_string(), error.retry_after())
    }
}

impl From<sqlx::Error> for ApiError {
    fn from(error: sqlx::Error) -> Self {
        Self::internal(&error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut body = self.details;
        body.insert("error".to_owned(), json!(self.code));
        body.insert("message".to_owned(), json!(self.message));
        let mut response = (self.status, Json(body)).into_response();
        if let Some(wait) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, whole_seconds(wait));
        }
        response
    }
}

fn whole_seconds(wait: Duration) -> HeaderValue {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    HeaderValue::from(seconds.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_rounded_up_to_whole_seconds_and_is_never_zero() {
        for (wait, header) in [(0, "1"), (1, "1"), (1_000, "1"), (1_001, "2"), (2_999, "3")] {
            assert_eq!(whole_seconds(Duration::from_millis(wait)), header, "{wait} ms");
        }
    }

    #[test]
    fn a_refusal_without_a_known_wait_still_says_when_to_come_back() {
        let error = ApiError::refused(StatusCode::SERVICE_UNAVAILABLE, "BUSY", "full", None);
        assert_eq!(error.into_response().headers()[header::RETRY_AFTER], "1");
    }
}
