use reqwest::StatusCode;
use resilience::{ErrorKind, bulkhead, circuit_breaker, time_limiter};

use crate::{
    access::{USER, UserId},
    mail::Mail,
    peer::{Peer, TransportError},
};

/// Why a mail is not known to have been sent.
#[derive(Debug, thiserror::Error, ErrorKind)]
pub enum MailError {
    /// The mail service did not accept the mail as it was.
    #[error("the mail service answered {0}")]
    #[error_kind("http_4xx")]
    Refused(StatusCode),
    /// The mail service failed.
    #[error("the mail service answered {0}")]
    #[error_kind("http_5xx")]
    Failed(StatusCode),
    /// The mail service was not reached, or its answer did not arrive.
    #[error(transparent)]
    #[error_kind(from)]
    Transport(#[from] TransportError),
    /// A protection refused the call or cut it short.
    #[error(transparent)]
    Protected(#[from] resilience::Error),
}

/// The way to the mail service.
#[derive(Debug, Clone)]
pub struct MailClient {
    peer: Peer,
}

impl MailClient {
    /// Asks this mail service.
    pub fn new(peer: Peer) -> Self {
        Self { peer }
    }

    /// Sends a mail to this user. It is not tried again: it may have been sent, and nobody wants to be
    /// told twice.
    ///
    /// # Errors
    ///
    /// If it is not known to have been sent.
    #[circuit_breaker(name = "mailCb")]
    #[time_limiter(name = "mailTl")]
    #[bulkhead(name = "mailBh")]
    pub async fn send(&self, user: UserId, mail: &Mail) -> Result<(), MailError> {
        let user = user.digits();
        let answer = self.peer.post("/mails", &[(USER, &user)], mail).await?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            status if status.is_client_error() => Err(MailError::Refused(status)),
            status => Err(MailError::Failed(status)),
        }
    }
}
