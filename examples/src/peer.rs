//! A service that is called over HTTP.

use std::{fmt, net::SocketAddr, str::FromStr, sync::Arc, time::Duration};

use axum::body::Bytes;
use reqwest::{Client, Method, StatusCode, Url, header};
use resilience::{ErrorKind, retry};
use serde::{Serialize, de::DeserializeOwned};

use crate::web::SIGNATURE;

/// The last resort against a peer that never answers, for calls without a time limiter.
const NEVER: Duration = Duration::from_secs(30);

/// How long a connection is kept for the next call: less than the peer keeps it (3 s), so that no
/// call is sent on a connection that the peer is just closing.
pub(crate) const IDLE: Duration = Duration::from_secs(1);

/// The base of a service's URLs, such as `http://127.0.0.1:8081`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Arc<str>);

/// What was given is not the base of a service's URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected http://HOST, with :PORT and /PATH if need be and nothing else")]
pub struct BadBaseUrl;

impl FromStr for BaseUrl {
    type Err = BadBaseUrl;

    /// Reads a URL to which paths can be appended; https is refused, as there is no TLS here.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let url = Url::parse(text).map_err(|_| BadBaseUrl)?;
        let bare = url.username().is_empty() && url.password().is_none();
        let open = url.query().is_none() && url.fragment().is_none();
        if url.scheme() != "http" || !bare || !open {
            return Err(BadBaseUrl);
        }
        Ok(Self(url.as_str().trim_end_matches('/').into()))
    }
}

impl From<SocketAddr> for BaseUrl {
    fn from(address: SocketAddr) -> Self {
        Self(format!("http://{address}").into())
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A service that is called over HTTP: its address and the connections to it.
#[derive(Debug, Clone)]
pub struct Peer {
    client: Client,
    base: BaseUrl,
}

/// A complete answer: whatever the status, the peer is there.
#[derive(Debug, Clone)]
pub struct Answer {
    status: StatusCode,
    retry_after: Option<Duration>,
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
    /// The request could not be made: the peer has not seen it.
    #[error("the request cannot be made: {0}")]
    Unmade(#[source] reqwest::Error),
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
        // Errors are logged, and a path may name somebody.
        let error = error.without_url();
        // A connect that timed out may still be under way; only a refusal is certain.
        if error.is_connect() && !error.is_timeout() {
            Self::Connect(error)
        } else if error.is_builder() {
            Self::Unmade(error)
        } else {
            Self::Broken(error)
        }
    }
}

/// The name of a header and its value.
pub type Header<'a> = (&'static str, &'a str);

/// What a call sends; kept as bytes so that a second attempt sends exactly the same.
#[derive(Debug)]
struct Message<'a> {
    method: Method,
    path: &'a str,
    /// Besides that of the body: names and values.
    headers: &'a [Header<'a>],
    body: Bytes,
}

impl Peer {
    /// Names the peer at `base`.
    ///
    /// # Errors
    ///
    /// If the HTTP client cannot be set up.
    pub fn new(base: &BaseUrl) -> Result<Self, reqwest::Error> {
        // No proxy: the peers are neighbours, and a proxy's own errors would count as theirs.
        let client = Client::builder().no_proxy().timeout(NEVER).pool_idle_timeout(IDLE).build()?;
        Ok(Self { client, base: base.clone() })
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
        headers: &[Header<'_>],
        body: &B,
    ) -> Result<Answer, TransportError> {
        let body = serde_json::to_vec(body).map_err(TransportError::Unwritable)?.into();
        self.send(&Message { method: Method::POST, path, headers, body }).await
    }

    /// Posts JSON that is written already, with its signature, and reads the whole answer.
    ///
    /// # Errors
    ///
    /// As [`post`](Self::post).
    ///
    /// # Cancel safety
    ///
    /// As [`post`](Self::post).
    pub async fn post_signed(
        &self,
        path: &str,
        signature: &str,
        body: Bytes,
    ) -> Result<Answer, TransportError> {
        let headers = &[(SIGNATURE, signature)];
        self.send(&Message { method: Method::POST, path, headers, body }).await
    }

    /// Asks for what is at `path` and reads the whole answer.
    ///
    /// # Errors
    ///
    /// As [`post`](Self::post).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection.
    pub async fn get(&self, path: &str) -> Result<Answer, TransportError> {
        let (headers, body) = (&[], Bytes::new());
        self.send(&Message { method: Method::GET, path, headers, body }).await
    }

    // The fixed order puts a retry around the breaker. Here it belongs below the caller's breaker:
    // a deploy gap is no failure of the peer. That order is written by nesting two annotated
    // functions, the caller's client and this one.
    #[retry(name = "reconnect")]
    async fn send(&self, message: &Message<'_>) -> Result<Answer, TransportError> {
        let url = format!("{}{}", self.base, message.path);
        let mut request = self
            .client
            .request(message.method.clone(), url)
            .header("content-type", "application/json")
            .body(message.body.clone());
        for (name, value) in message.headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await?;
        let (status, retry_after) = (response.status(), retry_after(response.headers()));
        Ok(Answer { status, retry_after, body: response.bytes().await? })
    }
}

/// Reads `Retry-After` in seconds; as a date nobody here sends it.
fn retry_after(headers: &header::HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

impl Answer {
    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// When the peer wants to be asked again, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_of_a_services_urls_is_plain_http_and_nothing_to_which_a_path_cannot_be_appended() {
        for good in ["http://127.0.0.1:8081", "http://[::1]:80", "http://inventory/api/"] {
            assert!(good.parse::<BaseUrl>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "notaurl",
            "127.0.0.1:8081",
            "localhost:8081",
            "/inventory",
            "http://",
            "http://:8081",
            "http://host:99999",
            "ftp://x",
            "https://x",
            "http://u@host",
            "http://host?q",
            "http://host#f",
        ] {
            assert_eq!(bad.parse::<BaseUrl>(), Err(BadBaseUrl), "{bad}");
        }
    }

    #[test]
    fn a_slash_at_the_end_makes_no_difference() {
        for text in ["http://host:8081/api", "http://host:8081/api/"] {
            assert_eq!(text.parse::<BaseUrl>().unwrap().to_string(), "http://host:8081/api");
        }
    }

    #[tokio::test]
    async fn the_error_of_a_failed_call_does_not_tell_its_path() {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let peer = Peer::new(&nobody.into()).unwrap();
        let error = peer.get("/internal/user/4711").await.unwrap_err();
        assert!(matches!(error, TransportError::Connect(_)), "{error}");
        assert!(!format!("{error} {error:?}").contains("4711"), "{error:?}");
    }

    #[test]
    fn a_request_that_could_not_be_made_did_not_reach_the_peer() {
        let error = Client::new().get("notaurl").build().unwrap_err();
        assert!(matches!(TransportError::from(error), TransportError::Unmade(_)));
    }
}
