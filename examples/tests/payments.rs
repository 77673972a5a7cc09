//! Payments: what is known about them, and when.

mod support;

use examples::{
    faults::FaultPlan,
    payment::{
        PaymentRequest, PaymentService, PaymentStatus, PaymentStore, ProviderClient, Providers,
        SettledBy,
    },
    peer::Peer,
};
use serde_json::json;
use support::{World, book, until};

/// The demo's two seconds, shortened.
const SHORT: (&str, &str) = ("timelimiter.instances.paymentTl.timeout_duration", "100ms");
const SLOW: FaultPlan = FaultPlan { delay_ms: 10_000, error_rate: 0.0, drop_rate: 0.0 };

#[tokio::test]
async fn a_provider_that_takes_too_long_leaves_the_order_pending_and_the_payment_unknown() {
    let world = World::start(&[SHORT]).await;
    world.provider_faults(SLOW).await;
    let placed = world.order(&book(1)).await;
    assert_eq!(placed.status, 200, "{placed:?}");
    assert_eq!(placed.body["status"], "ORDERED");
    assert_eq!(placed.body["payment_status"], "PENDING");
    assert_eq!(world.payment_of(&placed).await.body["status"], "TIMEOUT");
}

#[tokio::test]
async fn every_timeout_counts_and_an_open_breaker_leaves_the_provider_alone() {
    let world = World::start(&[SHORT]).await;
    world.provider_faults(SLOW).await;
    for user_id in 0..5 {
        world.order(&book(user_id)).await;
    }
    let breaker = world.registry.circuit_breaker("paymentCb");
    assert_eq!(breaker.metrics().failed_calls, 5);
    assert_eq!(breaker.state(), resilience::circuit_breaker::State::Open);

    let placed = world.order(&book(6)).await;
    assert_eq!((placed.status, &placed.body["payment_status"]), (200, &json!("PENDING")));
    let payment = world.payment_of(&placed).await.body;
    assert_eq!((&payment["status"], &payment["provider"]), (&json!("REQUESTED"), &json!(null)));
    assert_eq!(breaker.metrics().not_permitted_calls, 1);
    assert_eq!(world.ledger().await.len(), 5, "the provider was not asked again");
}

#[tokio::test]
async fn a_provider_that_fails_is_unknown_and_never_rejected() {
    let world = World::start(&[]).await;
    world.provider_faults(FaultPlan { error_rate: 1.0, ..FaultPlan::default() }).await;
    let placed = world.order(&book(1)).await;
    assert_eq!((placed.status, &placed.body["payment_status"]), (200, &json!("PENDING")));
    assert_eq!(world.payment_of(&placed).await.body["status"], "TIMEOUT");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_unknown_although_the_provider_charged() {
    let world = World::start(&[]).await;
    world.provider_faults(FaultPlan { drop_rate: 1.0, ..FaultPlan::default() }).await;
    let placed = world.order(&book(1)).await;
    assert_eq!((placed.status, &placed.body["payment_status"]), (200, &json!("PENDING")));
    assert_eq!(world.payment_of(&placed).await.body["status"], "TIMEOUT");
    let ledger = world.ledger().await;
    assert_eq!(ledger.len(), 1, "however often it was asked for, there is one charge");
    assert_eq!(ledger[0]["requests"], 2, "asked for again at once, under the same key");
}

#[tokio::test]
async fn no_transaction_is_open_while_the_provider_is_called() {
    let world = World::start(&[]).await;
    world.provider_faults(FaultPlan { delay_ms: 500, ..FaultPlan::default() }).await;
    let database = world.system.database("payment");
    let order = book(1);
    let (placed, ()) = tokio::join!(world.order(&order), async {
        until("the provider is called", async || !world.ledger().await.is_empty()).await;
        let status = support::database::committed_payment_status(&database).await;
        assert_eq!(status.as_deref(), Some("REQUESTED"));
        support::database::assert_writable(&database).await;
    });
    assert_eq!(placed.body["payment_status"], "APPROVED");
    let status = support::database::committed_payment_status(&database).await;
    assert_eq!(status.as_deref(), Some("APPROVED"));
}

#[tokio::test]
async fn payments_that_wait_for_the_provider_hold_no_connection_to_the_database() {
    const PAYMENTS: usize = 20; // there are four connections
    let world = World::start(&[("timelimiter.instances.paymentTl.timeout_duration", "20s")]).await;
    world.provider_faults(FaultPlan { delay_ms: 2_000, ..FaultPlan::default() }).await;
    let directory = tempfile::tempdir().unwrap();
    let store = PaymentStore::open(&directory.path().join("payment.db")).await.unwrap();
    let provider =
        ProviderClient::first("A", Peer::new(&world.system.provider.base_url()).unwrap());
    let providers = Providers { first: provider, others: Vec::new() };
    let service = PaymentService::new(store.clone(), providers, world.registry.clone());

    let payments: Vec<_> = (0..PAYMENTS)
        .map(|number| {
            let service = service.clone();
            let request = PaymentRequest { order_id: "o".to_owned(), amount: 100 };
            tokio::spawn(async move { service.pay(&format!("k{number}"), request).await })
        })
        .collect();
    until("all of them wait", async || world.ledger().await.len() == PAYMENTS).await;
    let looked = std::time::Instant::now();
    for _ in 0..50 {
        assert_eq!(store.connections().in_use(), 0, "every connection is free");
        support::database::assert_writable(&directory.path().join("payment.db")).await;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(looked.elapsed() >= std::time::Duration::from_secs(1));
    assert!(payments.iter().all(|payment| !payment.is_finished()), "they waited all the time");
    for payment in payments {
        assert_eq!(payment.await.unwrap().unwrap().settled_by, Some(SettledBy::Answer));
    }
}

#[tokio::test]
async fn a_payment_goes_on_when_the_caller_hangs_up() {
    let world = World::start(&[]).await;
    world.provider_faults(FaultPlan { delay_ms: 300, ..FaultPlan::default() }).await;
    let body = json!({ "order_id": "o", "amount": 100 });
    tokio::select! {
        answer = world.pay("k", &body) => panic!("answered before the hang-up: {answer:?}"),
        () = until("the provider is called", async || !world.ledger().await.is_empty()) => {}
    }
    let payment = format!("{}/payments/k", world.system.payment.url());
    until("the outcome is stored", async || {
        world.get(payment.clone()).await.body["status"] == "APPROVED"
    })
    .await;
}

#[tokio::test]
async fn the_end_of_the_payment_service_waits_for_a_charge_that_nobody_waits_for() {
    let world = World::start(&[]).await;
    world.provider_faults(FaultPlan { delay_ms: 500, ..FaultPlan::default() }).await;
    let body = json!({ "order_id": "o", "amount": 100 });
    tokio::select! {
        answer = world.pay("k", &body) => panic!("answered before the hang-up: {answer:?}"),
        () = until("the provider is called", async || !world.ledger().await.is_empty()) => {}
    }
    let store = PaymentStore::open(&world.system.database("payment")).await.unwrap();
    world.system.payment.stop().await.unwrap();
    let payment = store.find("k").await.unwrap().expect("it was written down");
    assert_eq!(payment.status, PaymentStatus::Approved);
}

#[tokio::test]
async fn a_key_that_comes_again_is_charged_once() {
    let world = World::start(&[]).await;
    let body = json!({ "order_id": "o", "amount": 100 });
    let first = world.pay("k", &body).await;
    let again = world.pay("k", &body).await;
    assert_eq!((first.status, &first.body["status"]), (200, &json!("APPROVED")));
    assert_eq!((again.status, again.body), (200, first.body));
    assert_eq!(world.ledger().await[0]["requests"], 1);
}

#[tokio::test]
async fn a_key_that_comes_again_while_the_payment_is_made_is_409() {
    let world = World::start(&[]).await;
    world.provider_faults(FaultPlan { delay_ms: 500, ..FaultPlan::default() }).await;
    let body = json!({ "order_id": "o", "amount": 100 });
    let (first, second) = tokio::join!(world.pay("k", &body), world.pay("k", &body));
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{first:?} {second:?}");
}

#[tokio::test]
async fn a_key_that_comes_with_another_body_is_422_and_changes_nothing() {
    let world = World::start(&[]).await;
    world.pay("k", &json!({ "order_id": "o", "amount": 100 })).await;
    for other in
        [json!({ "order_id": "o", "amount": 200 }), json!({ "order_id": "p", "amount": 100 })]
    {
        let answer = world.pay("k", &other).await;
        assert_eq!(answer.status, 422, "{answer:?}");
        assert_eq!(answer.body["error"], "IDEMPOTENCY_KEY_REUSED");
    }
    let kept = world.get(format!("{}/payments/k", world.system.payment.url())).await;
    assert_eq!((&kept.body["order_id"], &kept.body["amount"]), (&json!("o"), &json!(100)));
}

#[tokio::test]
async fn a_payment_without_a_key_or_an_amount_is_400() {
    let world = World::start(&[]).await;
    let keyless = world.pay_without_key(&json!({ "order_id": "o", "amount": 100 })).await;
    assert_eq!((keyless.status, &keyless.body["error"]), (400, &json!("IDEMPOTENCY_KEY_MISSING")));
    let free = world.pay("k", &json!({ "order_id": "o", "amount": 0 })).await;
    assert_eq!((free.status, &free.body["error"]), (400, &json!("INVALID_AMOUNT")));
    assert!(world.ledger().await.is_empty());
}

#[tokio::test]
async fn a_payment_that_nobody_made_is_404() {
    let world = World::start(&[]).await;
    let answer = world.get(format!("{}/payments/nobody", world.system.payment.url())).await;
    assert_eq!((answer.status, &answer.body["error"]), (404, &json!("NOT_FOUND")));
}
