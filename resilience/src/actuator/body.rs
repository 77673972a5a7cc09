//! Bodies of requests: whole, of a bounded length, and here within a bounded time.

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, Request, rejection::BytesRejection},
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{problem::Problem, state::ARRIVAL};

/// The longest body.
pub(super) const LARGEST: usize = 4096;

/// Waits for all of a body. How long it may be says the layer around the route.
pub(super) async fn whole(request: Request) -> Result<Bytes, Problem> {
    let body = tokio::time::timeout(ARRIVAL, Bytes::from_request(request, &())).await;
    let body = body.map_err(|_| {
        let seconds = ARRIVAL.as_secs();
        let message = format!("the body did not arrive within {seconds} seconds");
        Problem::new(StatusCode::REQUEST_TIMEOUT, message)
    })?;
    body.map_err(|refused: BytesRejection| Problem::new(refused.status(), refused.body_text()))
}

/// Lets a request pass once its body is here, for routes that are not the actuator's own.
pub(super) async fn arrived(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match whole(Request::from_parts(parts.clone(), body)).await {
        Ok(body) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Err(problem) => problem.into_response(),
    }
}
