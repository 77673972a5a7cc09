//! Mails to customers, for which nobody waits: one for each confirmed order, and none that holds up
//! anything.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::time::Duration;

use axum::Router;
use examples::{
    assembly::{self, OrderUrls, Settling},
    faults::FaultPlan,
    web::Server,
};
use resilience::circuit_breaker::State;
use serde_json::{Value, json};
use support::{World, book, until};

const DROPS: FaultPlan = FaultPlan { drop_rate: 1.0, ..FaultPlan::HEALTHY };
const FAILS: FaultPlan = FaultPlan { error_rate: 1.0, ..FaultPlan::HEALTHY };
const HANGS: FaultPlan = FaultPlan { delay_ms: 60_000, ..FaultPlan::HEALTHY };

/// What the mail service has sent.
async fn sent(world: &World) -> Value {
    world.get(format!("{}/mails", world.system.mail.url())).await.body
}

/// Places an order that is confirmed.
async fn confirmed(world: &World, user: i64) -> support::Answer {
    let placed = world.order(&book(user)).await;
    assert_eq!((placed.status, &placed.body["status"]), (200, &json!("CONFIRMED")), "{placed:?}");
    placed
}

#[tokio::test]
async fn who_has_ordered_is_told_once_that_the_order_is_confirmed() {
    let world = World::start(&[]).await;
    let placed = world.keyed_order("k", &book(1)).await;
    assert_eq!(placed.body["status"], "CONFIRMED");
    until("the mail is sent", async || sent(&world).await["count"] == 1).await;
    assert_eq!(sent(&world).await["last"][0]["order_id"], placed.body["order_id"]);

    let declined = json!({ "user_id": 2, "sku": "book", "quantity": 1, "amount": 1_000_001 });
    assert_eq!(world.order(&declined).await.status, 402);
    assert_eq!(world.keyed_order("k", &book(1)).await.status, 200, "the same order again");
    world.system.order.stop().await.unwrap();
    let breaker = world.registry.circuit_breaker("mailCb");
    assert_eq!(breaker.metrics().buffered_calls, 1, "nobody else is told anything");
}

#[tokio::test]
async fn an_order_that_is_confirmed_later_is_told_of_then_and_once() {
    let often = Settling { every: Duration::from_millis(20), ..Settling::default() };
    let world = World::settling(&[], &often).await;
    world.provider_faults(DROPS).await;
    assert_eq!(world.order(&book(1)).await.body["payment_status"], "PENDING");
    world.provider_faults(FaultPlan::HEALTHY).await;
    until("the mail is sent", async || sent(&world).await["count"] == 1).await;
    // Some more sweeps.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(sent(&world).await["count"], 1);
}

#[tokio::test]
async fn a_mail_service_that_hangs_changes_nothing_for_customers_and_opens_its_own_breaker() {
    // Longer than five orders take on a busy machine.
    let patience = ("timelimiter.instances.mailTl.timeout_duration", "3s");
    let world = World::start(&[patience]).await;
    world.mail_faults(HANGS).await;
    let slots = world.registry.bulkhead("mailBh");
    for user in 0..5 {
        let placed = confirmed(&world, user).await;
        assert!(placed.took < Duration::from_secs(3), "{:?}", placed.took);
    }
    until("five mails hang", async || slots.available_concurrent_calls() == 15).await;
    let inventory = world.registry.bulkhead("inventoryBh");
    assert_eq!(inventory.available_concurrent_calls(), 10, "and hold nothing of others");

    let breaker = world.registry.circuit_breaker("mailCb");
    until("the breaker opens", async || breaker.state() == State::Open).await;
    assert_eq!(breaker.metrics().failed_calls, 5, "it counts what the caller swallows");
    assert_eq!(slots.available_concurrent_calls(), 20, "their time is over");
    confirmed(&world, 5).await;
    until("a mail is refused", async || breaker.metrics().not_permitted_calls == 1).await;
    let shown = world.registry.prometheus();
    let open = shown.lines().find(|line| {
        line.starts_with("resilience4j_circuitbreaker_state{")
            && line.contains("name=\"mailCb\"")
            && line.contains("state=\"open\"")
    });
    assert!(open.is_some_and(|line| line.ends_with(" 1")), "{open:?}");
    for other in ["paymentCb", "paymentServiceCb", "inventoryCb"] {
        let metrics = world.registry.circuit_breaker(other).metrics();
        assert_eq!(metrics.failed_calls, 0, "{other}");
    }
}

#[tokio::test]
async fn a_mail_service_that_fails_or_is_gone_changes_nothing_for_customers() {
    let world = World::start(&[]).await;
    world.mail_faults(FAILS).await;
    confirmed(&world, 1).await;
    let breaker = world.registry.circuit_breaker("mailCb");
    until("the failure is counted", async || breaker.metrics().failed_calls == 1).await;

    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("order.db");
    let urls = OrderUrls { mail_url: support::refusing_url(), ..world.order_urls() };
    let (accounts, settling) = (world.accounts(), Settling::default());
    let order = assembly::order(&world.registry, &database, &urls, &accounts, &settling);
    let order = Server::start(0, order.await.unwrap()).await.unwrap();
    let placed = world.post(format!("{}/orders", order.url()), &book(2)).await;
    assert_eq!((placed.status, &placed.body["status"]), (200, &json!("CONFIRMED")));
    until("this one as well", async || breaker.metrics().failed_calls == 2).await;
}

#[tokio::test]
async fn no_more_mails_are_under_way_than_there_are_slots_and_our_own_limit_is_no_failure() {
    let two = ("bulkhead.instances.mailBh.max_concurrent_calls", "2");
    let patience = ("timelimiter.instances.mailTl.timeout_duration", "1h");
    let world = World::start(&[two, patience]).await;
    world.mail_faults(HANGS).await;
    for user in 0..5 {
        confirmed(&world, user).await;
    }
    let slots = world.registry.bulkhead("mailBh");
    until("three are refused", async || slots.metrics().rejected == 3).await;
    assert_eq!(slots.available_concurrent_calls(), 0);
    assert_eq!(world.registry.circuit_breaker("mailCb").metrics().buffered_calls, 0);
}

#[tokio::test]
async fn the_end_of_the_order_service_waits_for_the_mails_under_way() {
    let mut world = World::start(&[]).await;
    world.mail_faults(FaultPlan { delay_ms: 500, ..FaultPlan::HEALTHY }).await;
    confirmed(&world, 1).await;
    let breaker = world.registry.circuit_breaker("mailCb");
    assert_eq!(breaker.metrics().buffered_calls, 0, "it is under way");
    let other = Server::start(0, Router::new()).await.unwrap();
    std::mem::replace(&mut world.system.order, other).stop().await.unwrap();
    let metrics = breaker.metrics();
    assert_eq!((metrics.buffered_calls, metrics.failed_calls), (1, 0));
}

#[tokio::test]
async fn a_mail_for_nobody_is_401() {
    let world = World::start(&[]).await;
    let mails = format!("{}/mails", world.system.mail.url());
    let answer = world.post(mails, &json!({ "order_id": "o", "text": "Hello" })).await;
    assert_eq!((answer.status, &answer.body["error"]), (401, &json!("USER_MISSING")));
    assert_eq!(sent(&world).await["count"], 0);
}
