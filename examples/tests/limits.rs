//! Limits: who is refused, and what he is told.

mod support;

use std::{sync::Arc, time::Duration};

use examples::faults::FaultPlan;
use serde_json::json;
use support::{World, book, until};

#[tokio::test]
async fn the_eleventh_order_of_a_period_is_429_and_is_told_when_to_come_back() {
    // A period that does not end during the test.
    let period = ("ratelimiter.instances.orderRl.limit_refresh_period", "1h");
    let world = World::start(&[period]).await;
    for user_id in 0..10 {
        assert_eq!(world.order(&book(user_id)).await.status, 200);
    }
    let refused = world.order(&book(10)).await;
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_eq!(refused.body["error"], "TOO_MANY_REQUESTS");
    let wait: u64 = refused.retry_after.expect("a header").parse().expect("whole seconds");
    assert!((3_500..=3_600).contains(&wait), "{wait}");
    assert_eq!(world.ledger().await.len(), 10, "a refused order is not paid");
}

#[tokio::test]
async fn the_eleventh_call_to_a_hanging_inventory_is_503_and_payments_go_on() {
    let limit = ("ratelimiter.instances.orderRl.limit_for_period", "1000");
    let world = Arc::new(World::start(&[limit]).await);
    world.inventory_faults(FaultPlan { delay_ms: 1_500, ..FaultPlan::default() }).await;
    let slots = world.registry.bulkhead("inventoryBh");
    let hanging: Vec<_> = (0..10)
        .map(|user_id| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.order(&book(user_id)).await })
        })
        .collect();
    until("ten calls hang", async || slots.available_concurrent_calls() == 0).await;

    let refused = world.order(&book(10)).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_eq!(refused.body["error"], "DEPENDENCY_BUSY");
    assert_eq!(refused.retry_after.as_deref(), Some("1"));
    assert!(refused.took >= Duration::from_millis(50), "it waits for a slot: {:?}", refused.took);
    let paid = world.pay("k", &json!({ "order_id": "o", "amount": 100 })).await;
    assert_eq!((paid.status, &paid.body["status"]), (200, &json!("APPROVED")));
    assert_eq!(slots.available_concurrent_calls(), 0, "all of that while ten calls hang");

    for order in hanging {
        assert_eq!(order.await.unwrap().status, 200);
    }
    assert_eq!(slots.available_concurrent_calls(), 10);
    let breaker = world.registry.circuit_breaker("inventoryCb");
    assert_eq!(breaker.metrics().failed_calls, 0, "our own limit is no failure of the inventory");
}

#[tokio::test]
async fn a_handler_that_is_protected_itself_answers_a_refusal_as_it_is() {
    let no_wait = ("bulkhead.instances.ledgerBh.max_wait_duration", "0ms");
    let world = World::start(&[no_wait]).await;
    let slots = world.registry.bulkhead("ledgerBh");
    let readers: Vec<_> = (0..4).map(|_| slots.try_acquire().unwrap()).collect();
    let ledger = format!("{}/ledger", world.system.provider.url());
    let refused = reqwest::get(&ledger).await.unwrap();
    assert_eq!(refused.status(), 503);
    let text = refused.text().await.unwrap();
    assert!(!text.contains("ledgerBh"), "a client is told no names: {text}");
    drop(readers);
    assert_eq!(reqwest::get(&ledger).await.unwrap().status(), 200);
}
