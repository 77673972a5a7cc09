//! What a path says, with refusals in the shape that all have.

use axum::{
    extract::{self, FromRequestParts},
    http::request::Parts,
};
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// Axum's, but that what it refuses is a [`Problem`].
pub(super) struct Path<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = extract::Path::from_request_parts(parts, state).await;
        let extract::Path(path) =
            path.map_err(|refused| Problem::new(refused.status(), refused.body_text()))?;
        Ok(Self(path))
    }
}
