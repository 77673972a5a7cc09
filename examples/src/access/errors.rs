use std::{sync::Arc, time::Duration};

use axum::http::StatusCode;

use super::AccountError;
use crate::web::ApiError;

/// The `error` code of a no.
pub const FORBIDDEN: &str = "FORBIDDEN";

/// The `error` code where neither yes nor no is known.
pub const ACCESS_UNKNOWN: &str = "ACCESS_UNKNOWN";

/// Why it is not known what the account service has to say.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Untold {
    /// The call failed, for all who waited for it.
    #[error(transparent)]
    Failed(#[from] Arc<AccountError>),
    /// Others were to ask and did not.
    #[error(transparent)]
    Waited(#[from] resilience::Error),
}

impl From<Untold> for ApiError {
    fn from(error: Untold) -> Self {
        // How the account service fails is not for clients to know.
        tracing::debug!(%error, "a request was turned away undecided");
        Self::access_unknown(match &error {
            Untold::Failed(cause) => cause.retry_after(),
            Untold::Waited(cause) => cause.retry_after(),
        })
    }
}

impl ApiError {
    /// Creates the error for a user who may not do this: to ask again soon is no use.
    pub fn forbidden() -> Self {
        let message = "the user may not use this service";
        Self::new(StatusCode::FORBIDDEN, FORBIDDEN, message)
    }

    /// Creates the error for a user of whom it cannot be told whether he may. Nothing was done.
    pub fn access_unknown(wait: Option<Duration>) -> Self {
        let message = "whether the user may use this service cannot be told now";
        Self::refused(StatusCode::SERVICE_UNAVAILABLE, ACCESS_UNKNOWN, message, wait)
    }
}
