//! A service that is called over HTTP.

use std::{sync::Arc, time::Duration};

use axum::body::Bytes;
use reqwest::{Client, Method, StatusCode};
use resilience::{ErrorKind, retry};
use serde::{Serialize, de::DeserializeOwned};

/// The last resort against a peer that never answers, for calls without a time limiter.
const NEVER: Duration = Duration::from_secs(30);

/// A service that is called over HTTP: its address and the connections to it.
#[derive(Debug, Clone)]
pub struct Peer {
    client: Client,
    base: Arc<str>,
}

/// A complete answer: whatever the status, the peer is there.
#[derive(Debug, Clone)]
pub struct Answer {
    status: StatusCode,
    body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error, ErrorKind)]
pub enum TransportError {
    /// The connection was refused: the peer has not seen the request.
    #[error("cannot connect: {0}")]
    Connect(#[source] reqwest::Error),
    /// The answer broke off or never came: the peer may have done the work.
    #[error("the connection broke: {0}")]
    Broken(#[source] reqwest::Error),
    /// The request could not be written down.
    #[error("the request cannot be written: {0}")]
    Unwritable(#[source] serde_json::Error),
    /// The answer is not what was agreed.
    #[error("the answer cannot be read: {0}")]
    Unreadable(#[source] serde_json::Error),
    /// A protection refused the call.
    #[error(transparent)]
    Refused(#[from] resilience::Error),
}

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        // A connect that timed out may still be under way; only a refusal is certain.
        if error.is_connect() && !error.is_timeout() {
            Self::Connect(error)
        } else {
            Self::Broken(error)
        }
    }
}

/// What a call sends; kept as bytes so that a second attempt sends exactly the same.
#[derive(Debug)]
struct Message<'a> {
    path: &'a str,
    idempotency_key: Option<&'a str>,
    body: Bytes,
}

impl Peer {
    /// Names the peer at `base`, such as `http://127.0.0.1:8081`.
    ///
    /// # Errors
    ///
    /// If the HTTP client cannot be set up.
    pub fn new(base: &str) -> Result<Self, reqwest::Error> {
        // No proxy: the peers are neighbours, and a proxy's own errors would count as theirs.
        let client = Client::builder().no_proxy().timeout(NEVER).build()?;
        Ok(Self { client, base: base.trim_end_matches('/').into() })
    }

    /// Posts `body` as JSON and reads the whole answer.
    ///
    /// # Errors
    ///
    /// Whatever kept a complete answer from arriving; statuses are no errors here.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection; the peer may or may not have done the work.
    pub async fn post<B: Serialize + Sync>(
        &self,
        path: &str,
        idempotency_key: Option<&str>,
        body: &B,
    ) -> Result<Answer, TransportError> {
        let body = serde_json::to_vec(body).map_err(TransportError::Unwritable)?.into();
        self.send(&Message { path, idempotency_key, body }).await
    }

    // The fixed order puts a retry around the breaker. Here it belongs below the caller's breaker:
    // a deploy gap is no failure of the peer. That order is written by nesting two annotated
    // functions, the caller's client and this one.
    #[retry(name = "reconnect")]
    async fn send(&self, message: &Message<'_>) -> Result<Answer, TransportError> {
        let url = format!("{}{}", self.base, message.path);
        let mut request = self
            .client
            .request(Method::POST, url)
            .header("content-type", "application/json")
            .body(message.body.clone());
        if let Some(key) = message.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let response = request.send().await?;
        Ok(Answer { status: response.status(), body: response.bytes().await? })
    }
}

impl Answer {
    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Reads the body as JSON.
    ///
    /// # Errors
    ///
    /// If the body is not what was agreed.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, TransportError> {
        serde_json::from_slice(&self.body).map_err(TransportError::Unreadable)
    }

    /// The `error` code of the body, or nothing.
    pub fn error_code(&self) -> String {
        #[derive(serde::Deserialize)]
        struct Body {
            error: String,
        }
        self.json::<Body>().map(|body| body.error).unwrap_or_default()
    }
}
