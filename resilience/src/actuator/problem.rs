use axum::{
    Json,
    http::{HeaderValue, StatusCode, header::WWW_AUTHENTICATE},
    response::{IntoResponse, Response},
};
use serde::Serialize;

/// Why a request was not served.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    message: String,
}

#[derive(Serialize)]
struct Body {
    status: u16,
    error: &'static str,
    message: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
}

/// What is answered where there is nothing.
pub(super) async fn not_found() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is nothing here: /actuator lists what there is")
}

/// What is answered to a method that a path does not know; the header `Allow` says which it does.
pub(super) async fn method_not_allowed() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this path has no such method")
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, message } = self;
        let error = status.canonical_reason().unwrap_or_default();
        let body = Body { status: status.as_u16(), error, message };
        let mut response = (status, Json(body)).into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
