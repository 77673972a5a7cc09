//! The gate as a layer of routes, by where they say who asks.

use axum::{
    body::Body,
    extract::{FromRequest, Request, State},
    http::HeaderValue,
    middleware::Next,
    response::Response,
};
use serde::Deserialize;

use super::{AccessGate, UserId};
use crate::web::{self, ApiError};

/// The header of a response whose permission could not be checked for changes: it says `unchecked`.
pub const FRESHNESS: &str = "x-permission";

/// Lets a request in if the user in its header [`USER`](super::USER) may make it.
///
/// # Errors
///
/// 401 without a user; else as [`AccessGate::admit`].
pub async fn user_in_header(
    State(gate): State<AccessGate>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let user = UserId::of(request.headers())?;
    gate.admit(user, request, next).await
}

/// Lets a request in if the user in the field `user_id` of its body may make it.
///
/// # Errors
///
/// 400, 408 or 413 if the body cannot be read; else as [`AccessGate::admit`].
pub async fn user_in_body(
    State(gate): State<AccessGate>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    #[derive(Deserialize)]
    struct Asker {
        user_id: UserId,
    }

    let (parts, body) = request.into_parts();
    let whole = Request::from_parts(parts.clone(), body);
    let web::Body(bytes) = web::Body::from_request(whole, &()).await?;
    let Asker { user_id } = web::parsed(&bytes)?;
    gate.admit(user_id, Request::from_parts(parts, Body::from(bytes)), next).await
}

pub(super) fn tell_freshness(mut response: Response, is_fresh: bool) -> Response {
    if !is_fresh {
        response.headers_mut().insert(FRESHNESS, HeaderValue::from_static("unchecked"));
    }
    response
}
