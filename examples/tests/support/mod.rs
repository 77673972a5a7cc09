//! A whole system of its own for each test, asked over real HTTP on loopback.

#![allow(dead_code, reason = "every test file uses another part of it")]
#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

pub(crate) mod browser;
pub(crate) mod database;
pub(crate) mod proxy;
pub(crate) mod watched;

use std::time::{Duration, Instant};

use examples::{
    access::{FRESHNESS, Lifetimes, USER},
    assembly::{Accounts, OrderUrls, Settling},
    faults::FaultPlan,
    peer::BaseUrl,
    system::System,
};
use reqwest::{Client, RequestBuilder};
use resilience::{Config, Resilience};
use serde_json::{Value, json};

pub(crate) struct World {
    pub(crate) system: System,
    pub(crate) registry: Resilience,
    client: Client,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    /// Whether it says that the permission was not checked for changes.
    pub(crate) is_unchecked: bool,
    pub(crate) body: Value,
    pub(crate) took: Duration,
}

impl World {
    /// Starts a system with the example's own declarations, changed in these keys.
    pub(crate) async fn start(changes: &[(&str, &str)]) -> Self {
        Self::settling(changes, &Settling::default()).await
    }

    /// The same, where what the account service says is good for another time.
    pub(crate) async fn remembering(changes: &[(&str, &str)], lifetimes: Lifetimes) -> Self {
        Self::with(changes, &Settling::default(), lifetimes).await
    }

    /// The same, with another way to settle what is unknown.
    pub(crate) async fn settling(changes: &[(&str, &str)], settling: &Settling) -> Self {
        Self::with(changes, settling, Lifetimes::default()).await
    }

    async fn with(changes: &[(&str, &str)], settling: &Settling, lifetimes: Lifetimes) -> Self {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/resilience.yaml");
        let config = Config::builder().file(file).env(false);
        let config = changes.iter().fold(config, |config, (key, value)| config.set(*key, *value));
        let registry = Resilience::from_config(config.load().unwrap()).unwrap();
        let system = System::start(&registry, settling, lifetimes).await.unwrap();
        // No connection is used that a server, which keeps it for 3 s, is just closing.
        let idle = Duration::from_secs(1);
        let client = Client::builder().no_proxy().pool_idle_timeout(idle).build().unwrap();
        Self { system, registry, client }
    }

    pub(crate) async fn order(&self, body: &Value) -> Answer {
        let url = format!("{}/orders", self.system.order.url());
        answer(self.client.post(url).json(body)).await
    }

    pub(crate) async fn keyed_order(&self, key: &str, body: &Value) -> Answer {
        let url = format!("{}/orders", self.system.order.url());
        answer(self.client.post(url).header("Idempotency-Key", key).json(body)).await
    }

    pub(crate) async fn raw_order(&self, body: Vec<u8>) -> Answer {
        let url = format!("{}/orders", self.system.order.url());
        answer(self.client.post(url).header("content-type", "application/json").body(body)).await
    }

    pub(crate) async fn pay(&self, key: &str, body: &Value) -> Answer {
        self.pay_at(&self.system.payment.url(), key, body).await
    }

    pub(crate) async fn pay_at(&self, base: &str, key: &str, body: &Value) -> Answer {
        let request = self.client.post(format!("{base}/payments")).header(USER, 1);
        answer(request.header("Idempotency-Key", key).json(body)).await
    }

    pub(crate) async fn pay_without_key(&self, body: &Value) -> Answer {
        let url = format!("{}/payments", self.system.payment.url());
        answer(self.client.post(url).header(USER, 1).json(body)).await
    }

    pub(crate) async fn keyed_post(&self, url: &str, key: &str, body: &Value) -> Answer {
        answer(self.client.post(url).header("Idempotency-Key", key).json(body)).await
    }

    pub(crate) async fn put(&self, url: String, body: &Value) {
        let answer = answer(self.client.put(url).json(body)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    /// A callback as the provider sends it, or somebody who pretends to be it.
    pub(crate) async fn callback(
        &self,
        base: &str,
        signature: Option<&str>,
        body: Vec<u8>,
    ) -> Answer {
        let mut request = self.client.post(format!("{base}/payments/callback")).body(body);
        if let Some(signature) = signature {
            request = request.header("x-signature", signature);
        }
        answer(request).await
    }

    /// Lets the provider report its decisions so much later, or never.
    pub(crate) async fn webhooks(&self, delay_ms: Option<u64>) {
        let url = format!("{}/webhooks", self.system.provider.url());
        self.put(url, &json!({ "delay_ms": delay_ms })).await;
    }

    pub(crate) async fn post(&self, url: String, body: &Value) -> Answer {
        answer(self.client.post(url).json(body)).await
    }

    pub(crate) async fn get(&self, url: String) -> Answer {
        answer(self.client.get(url)).await
    }

    /// The payment that belongs to a placed order.
    pub(crate) async fn payment_of(&self, order: &Answer) -> Answer {
        let id = order.body["order_id"].as_str().expect("an order");
        self.get(format!("{}/payments/order-{id}", self.system.payment.url())).await
    }

    pub(crate) async fn ledger(&self) -> Vec<Value> {
        let ledger = self.get(format!("{}/ledger", self.system.provider.url())).await;
        ledger.body["charges"].as_array().expect("a list").clone()
    }

    pub(crate) async fn provider_faults(&self, plan: FaultPlan) {
        self.faults(&self.system.provider.url(), plan).await;
    }

    pub(crate) async fn inventory_faults(&self, plan: FaultPlan) {
        self.faults(&self.system.inventory.url(), plan).await;
    }

    pub(crate) async fn account_faults(&self, plan: FaultPlan) {
        self.faults(&self.system.account.url(), plan).await;
    }

    pub(crate) async fn mail_faults(&self, plan: FaultPlan) {
        self.faults(&self.system.mail.url(), plan).await;
    }

    /// What an order service besides the system's own needs to know of those that it calls.
    pub(crate) fn order_urls(&self) -> OrderUrls {
        OrderUrls {
            inventory_url: self.system.inventory.base_url(),
            payment_url: self.system.payment.base_url(),
            mail_url: self.system.mail.base_url(),
        }
    }

    /// What a service besides the system's own needs to know of its account service.
    pub(crate) fn accounts(&self) -> Accounts {
        let account_url = self.system.account.base_url();
        Accounts { account_url, lifetimes: Lifetimes::default() }
    }

    /// Keeps one book for an order, on behalf of this user or of nobody.
    pub(crate) async fn reserve(&self, user: Option<&str>, order_id: &str) -> Answer {
        let url = format!("{}/inventory/reserve", self.system.inventory.url());
        let body = json!({ "order_id": order_id, "sku": "book", "quantity": 1 });
        let request = self.client.post(url).json(&body);
        answer(user.into_iter().fold(request, |request, user| request.header(USER, user))).await
    }

    async fn faults(&self, base: &str, plan: FaultPlan) {
        self.put(format!("{base}/faults"), &json!(plan)).await;
    }
}

pub(crate) fn book(user_id: i64) -> Value {
    json!({ "user_id": user_id, "sku": "book", "quantity": 1, "amount": 12_000 })
}

/// Asserts that no payment was charged twice, under whichever keys.
pub(crate) fn charged_once(ledger: &[Value]) {
    assert!(!ledger.is_empty());
    let mut charged = std::collections::HashSet::new();
    for charge in ledger.iter().filter(|charge| charge["verdict"] == "APPROVED") {
        let reference = charge["reference"].as_str().expect("a reference");
        assert!(charged.insert(reference), "{reference} was charged twice: {ledger:?}");
    }
}

/// The address of a port that was free a moment ago, where nobody listens.
pub(crate) fn refusing_url() -> BaseUrl {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().into()
}

/// Looks until something is so; the time is only there for a test that fails.
pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !is_so().await {
        assert!(start.elapsed() < Duration::from_secs(10), "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn answer(request: RequestBuilder) -> Answer {
    let start = Instant::now();
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let retry_after =
        response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
    let is_unchecked =
        response.headers().get(FRESHNESS).is_some_and(|permission| permission == "unchecked");
    let body = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap_or_default();
    Answer { status, retry_after, is_unchecked, body, took: start.elapsed() }
}
