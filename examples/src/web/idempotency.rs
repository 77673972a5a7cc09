use axum::http::{HeaderMap, StatusCode};

use super::ApiError;

/// The header that names a request, so that it is carried out once.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

const LONGEST_KEY: usize = 200;

/// Reads the `Idempotency-Key` header: 1 to 200 visible ASCII characters.
///
/// # Errors
///
/// 400 if it is missing or is not such a key.
pub fn idempotency_key(headers: &HeaderMap) -> Result<&str, ApiError> {
    optional_idempotency_key(headers)?.ok_or_else(|| {
        ApiError::bad_request("IDEMPOTENCY_KEY_MISSING", "the header Idempotency-Key is required")
    })
}

/// Reads the `Idempotency-Key` header where it may be left out.
///
/// # Errors
///
/// 400 if it is there and is not 1 to 200 visible ASCII characters.
pub fn optional_idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(header) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    // `to_str` lets blanks and tabs through, which a log or a database browser does not show.
    let key = header.to_str().ok().filter(|key| key.bytes().all(|byte| byte.is_ascii_graphic()));
    key.filter(|key| (1..=LONGEST_KEY).contains(&key.len())).map(Some).ok_or_else(|| {
        let message =
            format!("Idempotency-Key: expected 1 to {LONGEST_KEY} visible ASCII characters");
        ApiError::bad_request("IDEMPOTENCY_KEY_INVALID", message)
    })
}

impl ApiError {
    /// Creates the error for an idempotency key that came back with another request.
    pub fn key_reused() -> Self {
        let message = "the idempotency key was used for another request";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "IDEMPOTENCY_KEY_REUSED", message)
    }
}
