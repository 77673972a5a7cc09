use axum::{extract::FromRequestParts, http::request::Parts};
use serde::de::DeserializeOwned;

use super::ApiError;

/// The variable part of a path, whose rejections are the system's own error bodies.
#[derive(Debug, Clone, Copy)]
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(part)) => Ok(Self(part)),
            Err(rejection) => {
                Err(ApiError::new(rejection.status(), "BAD_PATH", rejection.body_text()))
            }
        }
    }
}
