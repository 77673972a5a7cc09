//! The simulated provider's own limits: it keeps every charge, and so does not take any number of them.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    extract::Request,
    http::StatusCode,
    middleware::{self, Next},
    response::IntoResponse,
};
use examples::{
    assembly::{self, ProviderUrls, Settling},
    payment::{PaymentStatus, PaymentStore},
    pg::{self, Ledger, WebhookPlan},
    web::{self, Secret, Server},
};
use resilience::circuit_breaker::State;
use serde_json::{Value, json};
use support::{Answer, World, charged_once, until};

async fn charge(world: &World, provider: &Server, key: &str, reference: &str) -> Answer {
    let body = json!({ "reference": reference, "amount": 100 });
    world.keyed_post(&format!("{}/charges", provider.url()), key, &body).await
}

/// A provider with room for two charges.
async fn small_provider(world: &World) -> Server {
    let routes = pg::routes(Ledger::with_room_for(2), None);
    Server::start(0, web::finish(routes, &world.registry)).await.unwrap()
}

#[tokio::test]
async fn a_full_ledger_is_507_to_new_charges_and_still_tells_what_became_of_the_others() {
    let world = World::start(&[]).await;
    let provider = small_provider(&world).await;
    for key in ["a", "b"] {
        assert_eq!(charge(&world, &provider, key, key).await.status, 200);
    }
    let refused = charge(&world, &provider, "c", "c").await;
    assert_eq!((refused.status, &refused.body["error"]), (507, &json!("LEDGER_FULL")));
    assert_eq!(charge(&world, &provider, "a", "a").await.status, 200, "its first answer again");
    let charges = format!("{}/charges", provider.url());
    assert_eq!(world.get(format!("{charges}/b")).await.body["verdict"], "APPROVED");
    assert_eq!(world.get(format!("{charges}/c")).await.status, 404);
}

/// A payment service that asks a full provider first, and the system's own second.
struct Overflowing {
    world: World,
    full: Gate,
    payment: Server,
    database: std::path::PathBuf,
    _directory: tempfile::TempDir,
}

/// A full provider, and whether it fails before it says so.
struct Gate {
    provider: Server,
    fails: Arc<AtomicBool>,
}

impl Gate {
    async fn new(world: &World) -> Self {
        let ledger = Ledger::with_room_for(0);
        let fails = Arc::new(AtomicBool::new(false));
        let gate = Arc::clone(&fails);
        let routes = pg::routes(ledger, None).layer(middleware::from_fn(
            move |request: Request, next: Next| {
                let fails = gate.load(Ordering::Relaxed);
                async move {
                    if fails {
                        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
                    }
                    next.run(request).await
                }
            },
        ));
        let provider = Server::start(0, web::finish(routes, &world.registry)).await.unwrap();
        Self { provider, fails }
    }
}

impl Overflowing {
    async fn new() -> Self {
        let world = World::start(&[]).await;
        let full = Gate::new(&world).await;
        let urls = ProviderUrls {
            provider_url: full.provider.base_url(),
            second_provider_url: Some(world.system.provider.base_url()),
            third_provider_url: None,
        };
        let (accounts, settling) = (
            world.accounts(),
            Settling { every: Duration::from_millis(20), ..Settling::default() },
        );
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("payment.db");
        let payment = assembly::payment(&world.registry, &database, &urls, &accounts, &settling);
        let payment = Server::start(0, payment.await.unwrap()).await.unwrap();
        Self { world, full, payment, database, _directory: directory }
    }

    async fn pay(&self, key: &str) -> Answer {
        let body = json!({ "order_id": "o", "amount": 100 });
        self.world.pay_at(&self.payment.url(), key, &body).await
    }
}

#[tokio::test]
async fn what_a_full_provider_does_not_take_is_paid_at_the_next_one_at_once() {
    let system = Overflowing::new().await;
    // Past the time at which its breaker opens, and to its probes.
    let breaker = system.world.registry.circuit_breaker("paymentCb");
    for number in 0..8 {
        let paid = system.pay(&format!("k{number}")).await;
        assert_eq!(paid.body["status"], "APPROVED", "{paid:?}");
        assert_eq!(paid.body["provider"], "B");
    }
    assert_eq!(breaker.state(), State::Open, "to be full is a failure");
    assert_eq!(breaker.metrics().failed_calls, 5, "which is not tried again");
    breaker.transition_to(State::HalfOpen).unwrap();
    for number in 8..12 {
        assert_eq!(system.pay(&format!("k{number}")).await.body["status"], "APPROVED");
    }
    let ledger = system.world.ledger().await;
    assert_eq!(ledger.len(), 12);
    charged_once(&ledger);
}

#[tokio::test]
async fn a_payment_that_is_unknown_at_a_provider_which_turns_out_full_is_paid_at_the_next_one() {
    let system = Overflowing::new().await;
    system.full.fails.store(true, Ordering::Relaxed);
    assert_eq!(system.pay("k").await.body["status"], "TIMEOUT");
    system.full.fails.store(false, Ordering::Relaxed);
    let store = PaymentStore::open(&system.database).await.unwrap();
    let payment = async || store.find("k").await.unwrap().unwrap();
    until("it is settled", async || payment().await.status == PaymentStatus::Approved).await;
    assert_eq!(payment().await.provider.as_deref(), Some("B"));
    charged_once(&system.world.ledger().await);
}

#[tokio::test]
async fn a_reference_is_200_bytes_at_most() {
    let world = World::start(&[]).await;
    let provider = &world.system.provider;
    assert_eq!(charge(&world, provider, "a", &"r".repeat(200)).await.status, 200);
    let refused = charge(&world, provider, "b", &"r".repeat(201)).await;
    assert_eq!((refused.status, &refused.body["error"]), (400, &json!("BAD_REFERENCE")));
    assert_eq!(world.ledger().await.len(), 1);
}

#[tokio::test]
async fn all_is_reported_again_to_one_who_asks_at_a_time_and_by_sixteen_at_once() {
    const CHARGES: usize = 40;
    let patience = ("timelimiter.instances.webhookTl.timeout_duration", "1h");
    let world = Arc::new(World::start(&[patience]).await);
    let told = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&told);
    let hangs = async move || {
        count.fetch_add(1, Ordering::Relaxed);
        pending::<StatusCode>().await
    };
    let order = Server::start(0, Router::new().fallback(hangs)).await.unwrap();
    let secret = Some(Secret::new("a secret that only the tests know").unwrap());
    let plan = WebhookPlan::default();
    let app = assembly::provider(&world.registry, &order.base_url(), secret, plan).unwrap();
    let provider = Server::start(0, app).await.unwrap();
    for number in 0..CHARGES {
        let key = format!("k{number}");
        assert_eq!(charge(&world, &provider, &key, &key).await.status, 200);
    }

    let webhooks = format!("{}/webhooks", provider.url());
    let first = {
        let (world, webhooks) = (Arc::clone(&world), webhooks.clone());
        tokio::spawn(async move { world.post(webhooks, &Value::Null).await })
    };
    until("sixteen are told", async || told.load(Ordering::Relaxed) == 16).await;
    let second = world.post(webhooks, &Value::Null).await;
    assert_eq!((second.status, &second.body["error"]), (503, &json!("DEPENDENCY_BUSY")));
    assert_eq!(second.retry_after.as_deref(), Some("1"));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(told.load(Ordering::Relaxed), 16, "the others wait");

    first.abort();
    let slots = world.registry.bulkhead("webhooksBh");
    until("it has ended", async || slots.available_concurrent_calls() == 1).await;
}

/// A provider that reports a charge, which it was asked for, after this time in milliseconds.
async fn provider_that_reports(world: &World, order: &Server, delay_ms: u64) -> Server {
    let secret = Some(Secret::new("a secret that only the tests know").unwrap());
    let plan = WebhookPlan { delay_ms: Some(delay_ms) };
    let app = assembly::provider(&world.registry, &order.base_url(), secret, plan).unwrap();
    let provider = Server::start(0, app).await.unwrap();
    assert_eq!(charge(world, &provider, "k", "k").await.status, 200);
    provider
}

#[tokio::test]
async fn the_end_of_the_provider_waits_for_a_report_under_way_and_for_none_that_is_not_due() {
    let world = World::start(&[]).await;
    let (told, taken) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (begun, done) = (Arc::clone(&told), Arc::clone(&taken));
    let takes_long = async move || {
        begun.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(500)).await;
        done.fetch_add(1, Ordering::Relaxed);
        StatusCode::OK
    };
    let order = Server::start(0, Router::new().fallback(takes_long)).await.unwrap();

    let provider = provider_that_reports(&world, &order, 0).await;
    until("a report is under way", async || told.load(Ordering::Relaxed) == 1).await;
    provider.stop().await.unwrap();
    assert_eq!(taken.load(Ordering::Relaxed), 1);

    let provider = provider_that_reports(&world, &order, 60_000).await;
    let stopped = tokio::time::timeout(Duration::from_secs(10), provider.stop()).await;
    stopped.expect("nobody waits a minute").unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 1);
}
