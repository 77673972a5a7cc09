//! A served actuator and its client.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use resilience::{
    Config, Resilience,
    actuator::{Actuator, Server},
    config::Format,
};
use serde_json::Value;

pub(crate) const TOKEN: &str = "for-tests-only-0123456789";

/// An instance `payment` of every pattern.
pub(crate) const ONE_OF_EACH: &str = "
    circuitbreaker.instances.payment: { sliding_window_size: 4, wait_duration_in_open_state: 10s }
    retry.instances.payment: { max_attempts: 4 }
    ratelimiter.instances.payment: { limit_for_period: 7, limit_refresh_period: 1s }
    timelimiter.instances.payment: { timeout_duration: 3s }
    bulkhead.instances.payment: { max_concurrent_calls: 5 }
    thread-pool-bulkhead.instances.payment:
        { core_thread_pool_size: 1, max_thread_pool_size: 2, queue_capacity: 3 }";

/// How long a test waits for something that will not come before it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Served {
    pub(crate) registry: Resilience,
    pub(crate) server: Server,
    client: Client,
}

pub(crate) fn registry(yaml: &str) -> Resilience {
    let config = Config::builder().env(false).text(yaml, Format::Yaml).load().unwrap();
    Resilience::from_config(config).unwrap()
}

/// Serves what is configured, with the token.
pub(crate) async fn serve(yaml: &str) -> Served {
    serve_as(yaml, |actuator| actuator.token(TOKEN).unwrap()).await
}

pub(crate) async fn serve_as(yaml: &str, edit: impl FnOnce(Actuator) -> Actuator) -> Served {
    let registry = registry(yaml);
    let server = edit(Actuator::new(&registry)).bind("127.0.0.1:0").await.unwrap();
    Served { registry, server, client: Client::new() }
}

impl Served {
    fn url(&self, path: &str) -> String {
        format!("http://{}/actuator{path}", self.server.address())
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.url(path))
    }

    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(self.url(path))
    }

    /// The body of a good answer.
    pub(crate) async fn json(&self, path: &str) -> Value {
        let response = self.get(path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        response.json().await.unwrap()
    }

    pub(crate) async fn status(&self, path: &str) -> StatusCode {
        self.get(path).send().await.unwrap().status()
    }

    pub(crate) async fn stream(&self, path: &str) -> Stream {
        let response = self.get(path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream { response, text: String::new() }
    }
}

/// Server-sent events as a client reads them.
pub(crate) struct Stream {
    response: Response,
    text: String,
}

/// An event's name, empty if it has none, and its data.
#[derive(Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Stream {
    /// The next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Sent> {
        tokio::time::timeout(PATIENCE, self.read()).await.unwrap()
    }

    async fn read(&mut self) -> Option<Sent> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let sent = parse(&self.text[..end]);
                self.text.drain(..end + 2);
                if sent.is_some() {
                    return sent;
                }
            } else {
                let chunk = self.response.chunk().await.ok()??;
                self.text.push_str(std::str::from_utf8(&chunk).unwrap());
            }
        }
    }
}

/// Comments are no events.
fn parse(block: &str) -> Option<Sent> {
    let field =
        |key: &str| block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    let data = serde_json::from_str(field("data")?).unwrap();
    Some(Sent { name: field("event").unwrap_or_default().to_owned(), data })
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, wait).await.is_ok(), "never: {what}");
}
