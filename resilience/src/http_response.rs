//! What a client is told of a refusal over HTTP.

use http::{
    HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER},
};

use crate::Error;

/// The status, `Retry-After` where the time is known, and a line of text without any name.
pub(crate) fn of<B: From<&'static str>>(refusal: &Error) -> Response<B> {
    let mut response = Response::new(B::from(refusal.public_text()));
    *response.status_mut() =
        StatusCode::from_u16(refusal.http_status()).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if let Some(seconds) = refusal.retry_after_seconds() {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    response
}
