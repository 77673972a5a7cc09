use std::time::Duration;

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::{Serialize, de::DeserializeOwned};

use super::ApiError;

/// The largest request body that a service reads.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// How long a body may take to arrive: a client that stops half-way holds up nobody.
const ARRIVAL: Duration = Duration::from_secs(3);

/// A JSON body, whose rejections are the system's own error bodies.
///
/// axum's extractor answers 422 to JSON of the wrong shape; here 422 is kept for a reused
/// idempotency key, and whatever cannot be read is 400.
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, Self::Rejection> {
        let Body(bytes) = Body::from_request(request, state).await?;
        parsed(&bytes).map(Self)
    }
}

/// A body as it came, for who needs every byte of it.
#[derive(Debug, Clone)]
pub struct Body(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, Self::Rejection> {
        let arrival = tokio::time::timeout(ARRIVAL, Bytes::from_request(request, state));
        let arrived = arrival.await.map_err(|_| {
            let message = format!("the body did not arrive within {} s", ARRIVAL.as_secs());
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "BODY_TIMEOUT", message)
        })?;
        arrived.map(Self).map_err(|rejection| {
            if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                let message = format!("the body is larger than {MAX_BODY_BYTES} bytes");
                ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "BODY_TOO_LARGE", message)
            } else {
                ApiError::new(rejection.status(), "BODY_UNREADABLE", rejection.body_text())
            }
        })
    }
}

/// Reads JSON.
pub(crate) fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes)
        .map_err(|error| ApiError::bad_request("BAD_JSON", error.to_string()))
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}
