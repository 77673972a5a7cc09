use std::time::Duration;

use reqwest::StatusCode;
use resilience::{ErrorKind, bulkhead, circuit_breaker, time_limiter};

use super::UserId;
use crate::{
    account::{Role, UNKNOWN_USER, Version},
    peer::{Answer, Peer, TransportError},
};

/// Why the account service did not say what it was asked.
#[derive(Debug, thiserror::Error, ErrorKind)]
pub enum AccountError {
    /// The user does not exist: an answer, and none about the health of who gave it.
    #[error("there is no such user")]
    #[error_kind("http_4xx")]
    UnknownUser,
    /// It did not accept the question as it was, or not now.
    #[error("the account service answered {status}")]
    #[error_kind("http_4xx")]
    Refused {
        /// What it answered.
        status: StatusCode,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// It failed.
    #[error("the account service answered {0}")]
    #[error_kind("http_5xx")]
    Failed(StatusCode),
    /// It was not reached, or its answer did not arrive.
    #[error(transparent)]
    #[error_kind(from)]
    Transport(#[from] TransportError),
    /// A protection refused the call or cut it short.
    #[error(transparent)]
    Protected(#[from] resilience::Error),
}

/// The way to the account service.
///
/// One callee and two breakers, one for each meaning of a failure: without an answer about a role nobody
/// gets in, and without one about the version everybody stays in. Neither may decide for the other.
#[derive(Debug, Clone)]
pub struct AccountClient {
    peer: Peer,
}

impl AccountClient {
    /// Asks this account service.
    pub fn new(peer: Peer) -> Self {
        Self { peer }
    }

    /// Asks whether a user may use the system.
    ///
    /// Strangers stand before the gate, and a limiter in front of it would let them use up what customers
    /// are permitted. So it is the questions that are bounded: one too many is not asked, and who is not
    /// known does not get in.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    #[circuit_breaker(name = "accountAccess", open_for = told_to_wait)]
    #[time_limiter(name = "accountAccessTl")]
    #[bulkhead(name = "accountAccessBh")]
    pub async fn has_service_role(&self, user: UserId) -> Result<bool, AccountError> {
        let path = format!("/internal/user/{}/has-service-role", user.digits());
        let role: Role = read(&self.peer.get(&path).await?)?;
        Ok(role.has_service_role)
    }

    /// Asks for the version of all roles, which is another one after every change.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    #[circuit_breaker(name = "accountRead", open_for = told_to_wait)]
    #[time_limiter(name = "accountReadTl")]
    pub async fn roles_version(&self) -> Result<String, AccountError> {
        let version: Version = read(&self.peer.get("/internal/roles/version").await?)?;
        Ok(version.version)
    }
}

impl AccountError {
    /// How long it takes at least until it makes sense to ask again, where that is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            Self::Protected(error) => error.retry_after(),
            Self::UnknownUser | Self::Failed(_) | Self::Transport(_) => None,
        }
    }
}

/// 429 with `Retry-After` is no failure, and still a reason not to ask before.
fn told_to_wait(error: &AccountError) -> Option<Duration> {
    match error {
        AccountError::Refused { status: StatusCode::TOO_MANY_REQUESTS, retry_after } => {
            *retry_after
        }
        _ => None,
    }
}

fn read<T: serde::de::DeserializeOwned>(answer: &Answer) -> Result<T, AccountError> {
    match answer.status() {
        status if status.is_success() => Ok(answer.json()?),
        StatusCode::NOT_FOUND if answer.error_code() == UNKNOWN_USER => {
            Err(AccountError::UnknownUser)
        }
        status if status.is_client_error() => {
            Err(AccountError::Refused { status, retry_after: answer.retry_after() })
        }
        status => Err(AccountError::Failed(status)),
    }
}
