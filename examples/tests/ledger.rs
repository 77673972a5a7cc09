//! The simulated provider's own limits: it keeps every charge, and so does not take any number of them.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{Router, http::StatusCode};
use examples::{
    assembly::{self, ProviderUrls, Settling},
    pg::{self, Ledger, WebhookPlan},
    web::{self, Secret, Server},
};
use serde_json::{Value, json};
use support::{Answer, World, until};

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

#[tokio::test]
async fn a_provider_whose_ledger_is_full_is_left_for_the_next_one_once_its_breaker_opens() {
    let world = World::start(&[]).await;
    let full = small_provider(&world).await;
    for key in ["a", "b"] {
        charge(&world, &full, key, key).await;
    }
    let directory = tempfile::tempdir().unwrap();
    let urls = ProviderUrls {
        provider_url: full.base_url(),
        second_provider_url: Some(world.system.provider.base_url()),
        third_provider_url: None,
    };
    let (accounts, settling) = (world.accounts(), Settling::default());
    let database = directory.path().join("payment.db");
    let payment = assembly::payment(&world.registry, &database, &urls, &accounts, &settling);
    let payment = Server::start(0, payment.await.unwrap()).await.unwrap();
    let pay = async |key: &str| {
        let body = json!({ "order_id": "o", "amount": 100 });
        world.pay_at(&payment.url(), key, &body).await.body["status"].clone()
    };
    let mut tries = 0;
    while pay(&format!("k{tries}")).await != "APPROVED" {
        tries += 1;
        assert!(tries < 10, "nobody else is asked");
    }
    assert!(tries > 0, "the first one is asked first, and what it was asked is unknown");
    assert_eq!(world.ledger().await.len(), 1, "what the second one was asked for");
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
