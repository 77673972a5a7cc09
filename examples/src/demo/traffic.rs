use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, Instant},
};

use reqwest::{Client, RequestBuilder, header};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{
    DemoError,
    measurement::{Count, Latencies, Sample, ms, sample, whole_micros},
    progress::Progress,
};
use crate::{
    access::{FRESHNESS, USER},
    peer,
    web::IDEMPOTENCY_KEY,
};

/// An answer as the customer gets it.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after: Option<u64>,
    /// Whether the permission for it was not checked for changes.
    pub(super) is_unchecked: bool,
    pub(super) body: Value,
    pub(super) latency: Duration,
}

/// The customers: real HTTP requests, measured from outside.
#[derive(Debug)]
pub(super) struct Traffic {
    client: Client,
    last_user: AtomicI64,
}

impl Answer {
    /// The answer as the report tells of it.
    pub(super) fn sample(&self) -> Sample {
        let mut sample = sample! {"http": self.status, "ms": ms(whole_micros(self.latency))};
        for field in ["status", "payment_status", "error"] {
            if let Some(text) = self.body.get(field).filter(|value| value.is_string()) {
                sample.insert(field.to_owned(), text.clone());
            }
        }
        if let Some(seconds) = self.retry_after {
            sample.insert("retry_after".to_owned(), seconds.into());
            // What can be counted: any time to come back at that is not now.
            sample.insert("is_told_when".to_owned(), (seconds >= 1).into());
        }
        if self.is_unchecked {
            sample.insert("permission".to_owned(), "unchecked".into());
        }
        sample
    }
}

impl Traffic {
    pub(super) fn new() -> Result<Self, DemoError> {
        let client = Client::builder()
            .no_proxy()
            .timeout(Duration::from_secs(20))
            .pool_idle_timeout(peer::IDLE)
            .build()?;
        Ok(Self { client, last_user: AtomicI64::new(0) })
    }

    /// An order that is in stock and can be paid.
    pub(super) fn order(&self, base: &str) -> RequestBuilder {
        self.order_of(base, "book", 12_000)
    }

    /// The same at the entrance whose limit all order processes share.
    pub(super) fn global_order(&self, base: &str) -> RequestBuilder {
        self.order_at(format!("{base}/orders/global"), self.new_user(), "book", 12_000)
    }

    /// An order of a customer who has not ordered before: never a double click.
    pub(super) fn order_of(&self, base: &str, sku: &str, amount: i64) -> RequestBuilder {
        self.order_at(format!("{base}/orders"), self.new_user(), sku, amount)
    }

    /// An order of this customer, that is in stock and can be paid.
    pub(super) fn order_by(&self, base: &str, user_id: i64) -> RequestBuilder {
        self.order_at(format!("{base}/orders"), user_id, "book", 12_000)
    }

    /// The same under a key, by which it can be sent again.
    pub(super) fn keyed_order(&self, base: &str, user_id: i64, key: &str) -> RequestBuilder {
        self.order_by(base, user_id).header(IDEMPOTENCY_KEY, key)
    }

    fn order_at(&self, url: String, user_id: i64, sku: &str, amount: i64) -> RequestBuilder {
        let order = json!({ "user_id": user_id, "sku": sku, "quantity": 1, "amount": amount });
        self.client.post(url).json(&order)
    }

    /// Somebody who has not been here before.
    pub(super) fn new_user(&self) -> i64 {
        self.last_user.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn get(&self, url: String) -> RequestBuilder {
        self.client.get(url)
    }

    pub(super) fn post(&self, url: String) -> RequestBuilder {
        self.client.post(url)
    }

    pub(super) fn put(&self, url: String, body: &Value) -> RequestBuilder {
        self.client.put(url).json(body)
    }

    /// A payment that has nothing to do with any order of the demo.
    pub(super) fn payment(&self, base: &str) -> RequestBuilder {
        let key = format!("demo-{:032x}", fastrand::u128(..));
        let payment = json!({ "order_id": key, "amount": 12_000 });
        let request = self.client.post(format!("{base}/payments")).json(&payment);
        request.header(IDEMPOTENCY_KEY, key).header(USER, self.new_user())
    }
}

/// Sends a request and measures until the whole answer is there.
pub(super) async fn answer(request: RequestBuilder) -> Result<Answer, DemoError> {
    let start = Instant::now();
    let response = request.send().await?;
    let status = response.status().as_u16();
    let retry_after = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let is_unchecked = response.headers().contains_key(FRESHNESS);
    let body = response.bytes().await?;
    let latency = start.elapsed();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Answer { status, retry_after, is_unchecked, body, latency })
}

/// What is there to read.
pub(super) async fn text(request: RequestBuilder) -> Result<String, DemoError> {
    Ok(request.send().await?.text().await?)
}

/// Sends requests all at once and waits for every answer.
pub(super) async fn answers(
    requests: impl IntoIterator<Item = RequestBuilder>,
    progress: &Progress,
) -> Result<Vec<Answer>, DemoError> {
    let mut running: JoinSet<_> = requests.into_iter().map(answer).collect();
    let mut answers = Vec::with_capacity(running.len());
    while let Some(answer) = running.join_next().await {
        // Nobody aborts these tasks: a join error is a panic of ours, and goes on as one.
        answers.push(answer.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?);
        progress.step();
    }
    Ok(answers)
}

/// How long it took until the answers were there.
pub(super) fn latencies<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Latencies {
    Latencies::of("answers", answers.into_iter().map(|answer| answer.latency))
}

/// How many of the answers are as expected.
pub(super) fn count<'a>(
    name: &'static str,
    expected: Sample,
    answers: impl IntoIterator<Item = &'a Answer>,
) -> Count {
    Count::of(name, expected, answers.into_iter().map(Answer::sample))
}
