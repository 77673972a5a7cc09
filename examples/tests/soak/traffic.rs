//! What clients do: mixed, at random, and without regard to what the system is going through.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use examples::{
    order::OrderRequest,
    payment::Callback,
    pg::Verdict,
    web::{IDEMPOTENCY_KEY, SIGNATURE, Secret},
};
use fastrand::Rng;
use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    process::SECRET,
    system::Urls,
    told::{Answer, Known, Told},
};

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(8);
/// Shorter than the servers keep a connection, so that no request is sent on one that is just closing.
const IDLE: Duration = Duration::from_secs(1);

/// Users whose numbers nothing else has, so that they can be searched for.
const FIRST_USER: i64 = 727_000;
/// How many come at random; those after them come in the calm, each once.
const USERS: i64 = 3_000;
const IN_THE_CALM: i64 = 1_000;
/// The provider declines what is above its limit, which is now below this and now above.
const DEAR: i64 = 2_000_000;
const LIMITS: [i64; 2] = [1_000_000, 3_000_000];

/// What may be answered whenever something is away, or there is too much at once.
const REFUSALS: [(u16, &str); 5] = [
    (429, "TOO_MANY_REQUESTS"),
    (503, "ACCESS_UNKNOWN"),
    (503, "DEPENDENCY_BUSY"),
    (503, "DEPENDENCY_TIMEOUT"),
    (503, "DEPENDENCY_UNAVAILABLE"),
];
const PAID_OR_NOT: [(u16, &str); 3] =
    [(200, ""), (402, "PAYMENT_DECLINED"), (409, "ALREADY_IN_PROGRESS")];

/// What may be answered when all is well.
const WELL: [(u16, &str); 2] = [(200, ""), (429, "TOO_MANY_REQUESTS")];

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Order,
    OrderUnderKey,
    OrderGlobally,
    ComeBackWithKey,
    ReuseKey,
    DoubleClick,
    HangUp,
    SoldOut,
    NotSold,
    BadBody,
    HugeBody,
    ReadOrder,
    ReadProducts,
    PayAgain,
    MoveLimit,
    ReportAgain,
    Forge,
}

/// Of a hundred deeds, so many of each.
const MIX: [(Deed, u32); 17] = [
    (Deed::Order, 20),
    (Deed::OrderUnderKey, 12),
    (Deed::OrderGlobally, 10),
    (Deed::ComeBackWithKey, 6),
    (Deed::ReuseKey, 2),
    (Deed::DoubleClick, 5),
    (Deed::HangUp, 7),
    (Deed::SoldOut, 3),
    (Deed::NotSold, 1),
    (Deed::BadBody, 3),
    (Deed::HugeBody, 1),
    (Deed::ReadOrder, 12),
    (Deed::ReadProducts, 6),
    (Deed::PayAgain, 6),
    (Deed::MoveLimit, 1),
    (Deed::ReportAgain, 3),
    (Deed::Forge, 2),
];

/// Clients of the system; clones share what they were told.
#[derive(Clone)]
pub(crate) struct Clients {
    client: Client,
    urls: Urls,
    pub(crate) told: Arc<Mutex<Told>>,
}

impl Clients {
    pub(crate) fn new(urls: Urls) -> Self {
        let client = Client::builder().no_proxy().timeout(PATIENCE).pool_idle_timeout(IDLE);
        Self { client: client.build().unwrap(), urls, told: Arc::default() }
    }

    /// Does one thing after the other, each so much later, until it is dropped.
    pub(crate) async fn mixed(&self, mut rng: Rng, pause: Duration, under_way: &mut JoinSet<()>) {
        let sum: u32 = MIX.iter().map(|(_, weight)| weight).sum();
        let mut ticks = tokio::time::interval(pause);
        loop {
            ticks.tick().await;
            let mut chance = rng.u32(..sum);
            let drawn = MIX.iter().find(|(_, weight)| {
                let is_it = chance < *weight;
                chance = chance.saturating_sub(*weight);
                is_it
            });
            let (deed, _) = *drawn.expect("the chance is below the sum");
            let (clients, rng) = (self.clone(), rng.fork());
            under_way.spawn(async move { clients.act(deed, rng).await });
            while let Some(done) = under_way.try_join_next() {
                done.unwrap();
            }
        }
    }

    /// Has both order processes use every protection once, for a user whom nobody knows yet.
    pub(crate) async fn calmly(&self, mut rng: Rng, nth: i64) {
        for url in &self.urls.orders {
            let user_id = FIRST_USER + USERS + nth;
            let request = OrderRequest { user_id, ..order(&mut rng) };
            self.place("an order in the calm", url, "/orders", &request, None).await;
            self.report_again(url, &mut rng).await;
        }
    }

    /// Orders once more at both order processes, now that all is well and nobody else asks, and says who
    /// did not get his order confirmed.
    pub(crate) async fn once_more(&self, mut rng: Rng) -> Vec<String> {
        let mut refused = Vec::new();
        for url in &self.urls.orders {
            let user_id = FIRST_USER + USERS + IN_THE_CALM - 1;
            let request = OrderRequest { user_id, amount: 1, ..order(&mut rng) };
            let start = Instant::now();
            // What others have used up of a second's permissions comes back with the next one.
            let answer = loop {
                let asked = self.post(url, "/orders", None).json(&request);
                let answer = self.ask("an order at the end", asked, &WELL).await;
                let is_too_soon = answer.as_ref().is_some_and(|answer| answer.status == 429);
                if !is_too_soon || start.elapsed() > PATIENCE {
                    break answer;
                }
                tokio::time::sleep(IDLE).await;
            };
            match answer {
                Some(answer) if answer.body["status"] == "CONFIRMED" => {
                    self.told.lock().order(&request, None, &answer);
                }
                answer => refused.push(format!("all is well, and {url} answers {answer:?}")),
            }
        }
        refused
    }

    async fn act(&self, deed: Deed, mut rng: Rng) {
        let rng = &mut rng;
        let url = &self.urls.orders[rng.usize(..2)];
        let request = order(rng);
        match deed {
            Deed::Order => self.place("an order", url, "/orders", &request, None).await,
            Deed::OrderGlobally => {
                self.place("a global order", url, "/orders/global", &request, None).await;
            }
            Deed::OrderUnderKey => {
                let key = self.new_key(rng, &request);
                self.place("an order under a key", url, "/orders", &request, Some(&key)).await;
            }
            Deed::ComeBackWithKey => {
                let Some((key, request)) = self.known_key(rng, false) else { return };
                self.place("a key again", url, "/orders", &request, Some(&key)).await;
            }
            Deed::ReuseKey => self.reuse_key(url, request, rng).await,
            Deed::DoubleClick => {
                let key = rng.bool().then(|| self.new_key(rng, &request));
                let other = &self.urls.orders[rng.usize(..2)];
                let click =
                    |url| self.place("a double click", url, "/orders", &request, key.as_deref());
                tokio::join!(click(url), click(other));
            }
            Deed::HangUp => {
                let key = rng.bool().then(|| self.new_key(rng, &request));
                let asked = self.post(url, "/orders", key.as_deref()).json(&request).send();
                let patience = Duration::from_millis(rng.u64(1..=300));
                let outcome = match tokio::time::timeout(patience, asked).await {
                    Ok(_) => "too late",
                    Err(_) => "hung up",
                };
                self.told.lock().count("an order that is hung up on", outcome);
            }
            Deed::SoldOut => {
                let request = OrderRequest { sku: "unicorn".to_owned(), ..request };
                let told = [(409, "OUT_OF_STOCK"), (409, "ALREADY_IN_PROGRESS")];
                self.refused("a unicorn", url, &request, &told).await;
            }
            Deed::NotSold => {
                let request = OrderRequest { sku: "nothing".to_owned(), ..request };
                let told = [(404, "UNKNOWN_SKU"), (409, "ALREADY_IN_PROGRESS")];
                self.refused("what is not sold", url, &request, &told).await;
            }
            Deed::BadBody => {
                let bodies = ["", "{", "[]", "\u{0}", r#"{"user_id":"me"}"#, r#"{"sku":"book"}"#];
                let body = bodies[rng.usize(..bodies.len())];
                let asked = self.post(url, "/orders", None).body(body);
                self.ask("a body that is no order", asked, &[(400, "BAD_JSON")]).await;
            }
            Deed::HugeBody => {
                let asked = self.post(url, "/orders", None).body("x".repeat(70 * 1024));
                self.ask("a huge body", asked, &[(413, "BODY_TOO_LARGE")]).await;
            }
            Deed::ReadOrder => self.read(url, rng).await,
            Deed::ReadProducts => {
                let asked = self.client.get(format!("{url}/products"));
                self.ask("the products", asked, &[(200, "")]).await;
            }
            Deed::PayAgain => self.pay_again(url, rng).await,
            Deed::MoveLimit => {
                let limit = json!({ "amount": LIMITS[rng.usize(..2)] });
                for provider in &self.urls.providers {
                    let asked = self.client.put(format!("{provider}/limit")).json(&limit);
                    self.ask("another limit", asked, &[(200, "")]).await;
                }
            }
            Deed::ReportAgain => self.report_again(url, rng).await,
            Deed::Forge => {
                let body = json!({ "reference": "order-x", "verdict": "APPROVED" }).to_string();
                let signature = "00".repeat(32);
                let asked = self.report(url, &signature, body.into_bytes());
                self.ask("a forged report", asked, &[(401, "BAD_SIGNATURE")]).await;
            }
        }
    }

    async fn place(
        &self,
        what: &str,
        url: &str,
        path: &str,
        request: &OrderRequest,
        key: Option<&str>,
    ) {
        let asked = self.post(url, path, key).json(request);
        if let Some(answer) = self.ask(what, asked, &[&PAID_OR_NOT[..], &REFUSALS].concat()).await {
            self.told.lock().order(request, key, &answer);
        }
    }

    /// Orders what cannot be had; where that is not known to have been undone, the order stands.
    async fn refused(&self, what: &str, url: &str, request: &OrderRequest, told: &[(u16, &str)]) {
        let asked = self.post(url, "/orders", None).json(request);
        if let Some(answer) = self.ask(what, asked, &[told, &REFUSALS].concat()).await {
            self.told.lock().order(request, None, &answer);
        }
    }

    async fn reuse_key(&self, url: &str, request: OrderRequest, rng: &mut Rng) {
        let Some((key, first)) = self.known_key(rng, true) else { return };
        let other = OrderRequest { quantity: first.quantity + 1, ..request };
        let asked = self.post(url, "/orders", Some(&key)).json(&other);
        let told = [(422, "IDEMPOTENCY_KEY_REUSED"), (409, "ALREADY_IN_PROGRESS")];
        self.ask("a key with another order", asked, &[&told[..], &REFUSALS].concat()).await;
    }

    async fn read(&self, url: &str, rng: &mut Rng) {
        let Some((id, was_confirmed)) = self.known_order(rng, |_| true) else { return };
        let asked = self.client.get(format!("{url}/orders/{id}"));
        if let Some(answer) = self.ask("an order that is read", asked, &[(200, "")]).await {
            self.told.lock().read(&id, was_confirmed, &answer);
        }
    }

    async fn pay_again(&self, url: &str, rng: &mut Rng) {
        let declined = self.known_order(rng, |known| known.was_declined && !known.is_confirmed);
        let Some((id, _)) = declined else { return };
        let asked = self.post(url, &format!("/orders/{id}/payment"), None);
        let told = [&PAID_OR_NOT[..], &[(409, "PAYMENT_PENDING")], &REFUSALS].concat();
        if let Some(answer) = self.ask("paying again", asked, &told).await {
            let mut told = self.told.lock();
            let request = told.orders[&id].request.clone();
            told.order(&request, None, &answer);
        }
    }

    /// Reports what is known to be so, as the provider does when it is not sure to have been heard.
    async fn report_again(&self, url: &str, rng: &mut Rng) {
        let paid_at_once = |known: &Known| known.is_confirmed && !known.was_declined;
        let Some((id, _)) = self.known_order(rng, paid_at_once) else { return };
        let callback = Callback { reference: format!("order-{id}"), verdict: Verdict::Approved };
        let body = serde_json::to_vec(&callback).unwrap();
        let signature = Secret::new(SECRET).unwrap().sign(&body);
        let asked = self.report(url, &signature, body);
        self.ask("a report again", asked, &[&[(200, "")][..], &REFUSALS].concat()).await;
    }

    fn report(&self, url: &str, signature: &str, body: Vec<u8>) -> RequestBuilder {
        self.post(url, "/payments/callback", None).header(SIGNATURE, signature).body(body)
    }

    fn post(&self, url: &str, path: &str, key: Option<&str>) -> RequestBuilder {
        let request = self.client.post(format!("{url}{path}"));
        key.into_iter().fold(request, |request, key| request.header(IDEMPOTENCY_KEY, key))
    }

    /// Asks, and takes note of what comes back, if anything does: a process may be gone.
    async fn ask(
        &self,
        what: &str,
        asked: RequestBuilder,
        allowed: &[(u16, &str)],
    ) -> Option<Answer> {
        let answered = async {
            let response = asked.send().await?;
            let status = response.status().as_u16();
            let has_retry_after = response.headers().contains_key("retry-after");
            let body = response.bytes().await?;
            let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
            Ok::<_, reqwest::Error>(Answer { status, has_retry_after, body })
        };
        match answered.await {
            Ok(answer) => {
                self.told.lock().answered(what, &answer, allowed);
                Some(answer)
            }
            Err(error) => {
                let why = if error.is_timeout() { "no patience" } else { "no answer" };
                self.told.lock().count(what, why);
                None
            }
        }
    }

    fn new_key(&self, rng: &mut Rng, request: &OrderRequest) -> String {
        let key = format!("soak-{:032x}", rng.u128(..));
        self.told.lock().keys.insert(key.clone(), (request.clone(), None));
        key
    }

    /// A key that was used, with the order that it was used for.
    fn known_key(&self, rng: &mut Rng, named: bool) -> Option<(String, OrderRequest)> {
        let told = self.told.lock();
        let keys = told.keys.iter().filter(|(_, (_, order))| order.is_some() == named);
        let (key, (request, _)) = rng.choice(keys.collect::<Vec<_>>())?;
        Some((key.clone(), request.clone()))
    }

    fn known_order(&self, rng: &mut Rng, which: impl Fn(&Known) -> bool) -> Option<(String, bool)> {
        let told = self.told.lock();
        let orders = told.orders.iter().filter(|(_, known)| which(known));
        let (id, known) = rng.choice(orders.collect::<Vec<_>>())?;
        Some((id.clone(), known.is_confirmed))
    }
}

/// Whether a text has the number of a user as a word of its own.
pub(crate) fn names_a_user(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() == 6)
        .filter_map(|word| word.parse::<i64>().ok())
        .any(|number| (FIRST_USER..FIRST_USER + USERS + IN_THE_CALM).contains(&number))
}

fn order(rng: &mut Rng) -> OrderRequest {
    let is_dear = rng.u8(..100) < 12;
    OrderRequest {
        user_id: FIRST_USER + rng.i64(0..USERS),
        sku: if rng.bool() { "book" } else { "lamp" }.to_owned(),
        quantity: rng.u32(1..=3),
        amount: if is_dear { DEAR } else { rng.i64(1..=90_000) },
    }
}
