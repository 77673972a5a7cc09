//! Payments whose outcome is unknown: who settles them, and that it happens once.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::{sync::Arc, time::Duration};

use examples::{
    assembly::Settling,
    faults::FaultPlan,
    payment::{
        PaymentRequest, PaymentService, PaymentStore, ProviderClient, Providers, Reconciler,
    },
    peer::Peer,
    sweeper::Stop,
    web::Secret,
};
use resilience::circuit_breaker::State;
use serde_json::{Value, json};
use support::{World, book, charged_once, until};

const DROPS: FaultPlan = FaultPlan { delay_ms: 0, error_rate: 0.0, drop_rate: 1.0 };
const FAILS: FaultPlan = FaultPlan { delay_ms: 0, error_rate: 1.0, drop_rate: 0.0 };
const SECRET: &str = "a secret that only the tests know";

/// Looks often: the example's own minute is too long for a test.
fn often() -> Settling {
    Settling { every: Duration::from_millis(20), ..signed() }
}

/// Looks so rarely that a test does not see it; believes callbacks.
fn signed() -> Settling {
    let secret = Some(Secret::new(SECRET).unwrap());
    Settling { secret, every: Duration::from_hours(1), ..Settling::default() }
}

fn secret() -> Secret {
    Secret::new(SECRET).unwrap()
}

/// A charge per payment would open the breaker, which is not what these tests are about.
const NO_BREAKER: (&str, &str) = ("circuitbreaker.instances.paymentCb.enabled", "false");

fn callback(reference: &str, verdict: &str) -> Vec<u8> {
    serde_json::to_vec(&json!({ "reference": reference, "verdict": verdict })).unwrap()
}

async fn order_of(world: &World, placed: &support::Answer) -> Value {
    let id = placed.body["order_id"].as_str().unwrap();
    world.get(format!("{}/orders/{id}", world.system.order.url())).await.body
}

#[tokio::test]
async fn an_unknown_payment_and_its_order_are_settled_by_asking() {
    let world = World::settling(&[], &often()).await;
    world.provider_faults(DROPS).await;
    let placed = world.order(&book(1)).await;
    assert_eq!(placed.body["payment_status"], "PENDING");
    world.provider_faults(FaultPlan::HEALTHY).await;
    until("the order is confirmed", async || {
        order_of(&world, &placed).await["status"] == "CONFIRMED"
    })
    .await;
    let payment = world.payment_of(&placed).await.body;
    assert_eq!(
        (&payment["status"], &payment["settled_by"]),
        (&json!("APPROVED"), &json!("RECONCILER"))
    );
    charged_once(&world.ledger().await);
}

#[tokio::test]
async fn a_charge_that_never_arrived_is_asked_for_again_under_its_key() {
    let world = World::settling(&[], &often()).await;
    world.provider_faults(FAILS).await;
    let placed = world.order(&book(1)).await;
    // On a busy machine the order is answered before the payment has got that far.
    until("the outcome is unknown", async || {
        world.payment_of(&placed).await.body["status"] == "TIMEOUT"
    })
    .await;
    assert!(world.ledger().await.is_empty());
    world.provider_faults(FaultPlan::HEALTHY).await;
    until("the order is confirmed", async || {
        order_of(&world, &placed).await["status"] == "CONFIRMED"
    })
    .await;
    charged_once(&world.ledger().await);
}

#[tokio::test]
async fn a_payment_that_was_declined_unheard_becomes_rejected_and_its_order_stands() {
    let world = World::settling(&[], &often()).await;
    world.provider_faults(DROPS).await;
    let order = json!({ "user_id": 1, "sku": "book", "quantity": 1, "amount": 1_000_001 });
    let placed = world.order(&order).await;
    assert_eq!(placed.body["payment_status"], "PENDING", "a failed call is not a declined payment");
    world.provider_faults(FaultPlan::HEALTHY).await;
    until("the order is told", async || {
        order_of(&world, &placed).await["payment_status"] == "REJECTED"
    })
    .await;
    assert_eq!(order_of(&world, &placed).await["status"], "ORDERED");
}

#[tokio::test]
async fn an_open_breaker_of_the_charges_does_not_keep_queries_away() {
    let world = World::settling(&[], &often()).await;
    world.provider_faults(DROPS).await;
    let placed = world.order(&book(1)).await;
    world.registry.circuit_breaker("paymentCb").transition_to(State::ForcedOpen).unwrap();
    world.provider_faults(FaultPlan::HEALTHY).await;
    until("the order is confirmed", async || {
        order_of(&world, &placed).await["status"] == "CONFIRMED"
    })
    .await;
    assert_eq!(world.registry.circuit_breaker("paymentCb").state(), State::ForcedOpen);
}

#[tokio::test]
async fn queries_that_fail_open_a_breaker_of_their_own_and_leave_payments_unknown() {
    let world = World::settling(&[NO_BREAKER], &signed()).await;
    world.provider_faults(DROPS).await;
    for number in 0..8 {
        world.pay(&format!("k{number}"), &json!({ "order_id": "o", "amount": 100 })).await;
    }
    let (service, _) = beside(&world).await;
    let reconciler = Reconciler::new(service, Duration::from_mins(1));
    world.registry.scope(reconciler.sweep(&Stop::never())).await.unwrap();
    let queries = world.registry.circuit_breaker("pgQueryCb").keyed("A");
    assert_eq!(queries.state(), State::Open);
    assert_eq!(queries.metrics().failed_calls, 5, "the first refusal ends the sweep");
    assert_eq!(queries.metrics().not_permitted_calls, 1);
    for number in 0..8 {
        let payment = world.get(format!("{}/payments/k{number}", world.system.payment.url())).await;
        assert_eq!(payment.body["status"], "TIMEOUT");
    }
}

#[tokio::test]
async fn a_payment_that_is_just_being_made_is_left_to_who_makes_it() {
    let always = Settling { every: Duration::from_millis(1), ..signed() };
    let world = World::settling(&[("ratelimiter.instances.orderRl.enabled", "false")], &always);
    let world = world.await;
    for user in 0..50 {
        let placed = world.order(&book(user)).await;
        assert_eq!(placed.body["payment_status"], "APPROVED", "{placed:?}");
    }
}

#[tokio::test]
async fn a_payment_that_is_held_up_at_the_gate_is_left_to_who_makes_it() {
    let always = Settling { every: Duration::from_millis(1), ..signed() };
    let patience = ["accountAccessTl", "accountWaitTl"]
        .map(|name| format!("timelimiter.instances.{name}.timeout_duration"));
    let patience = patience.each_ref().map(|key| (&**key, "3s"));
    let world = Arc::new(World::settling(&patience, &always).await);
    world.account_faults(FaultPlan { delay_ms: 1_500, ..FaultPlan::HEALTHY }).await;
    let mut orders = tokio::task::JoinSet::new();
    for user in 0..8 {
        let world = Arc::clone(&world);
        orders.spawn(async move { world.order(&book(user)).await });
    }
    while let Some(placed) = orders.join_next().await {
        let placed = placed.unwrap();
        assert_eq!(placed.body["payment_status"], "APPROVED", "{placed:?}");
    }
    let asked = world.registry.time_limiter("paymentServiceTl").metrics();
    assert_eq!((asked.successful, asked.failed), (8, 0), "nobody else asks");
}

/// Another process at the payment service's database.
async fn beside(world: &World) -> (PaymentService, PaymentStore) {
    let store = PaymentStore::open(&world.system.database("payment")).await.unwrap();
    let provider =
        ProviderClient::first("A", Peer::new(&world.system.provider.base_url()).unwrap());
    let providers = Providers { first: provider, others: Vec::new() };
    (PaymentService::new(store.clone(), providers, world.registry.clone()), store)
}

#[tokio::test]
async fn a_payment_whose_process_died_while_it_asked_is_found_again() {
    let world = World::settling(&[], &signed()).await;
    // What such a process leaves behind: the request is written down, and nobody waits any more.
    let (service, store) = beside(&world).await;
    let request = PaymentRequest { order_id: "o".to_owned(), amount: 100 };
    store.create("k", &request, "A").await.unwrap();
    let url = format!("{}/payments/k", world.system.payment.url());

    let patient = Reconciler::new(service.clone(), Duration::from_mins(1));
    world.registry.scope(patient.sweep(&Stop::never())).await.unwrap();
    assert_eq!(world.get(url.clone()).await.body["status"], "REQUESTED", "it may be under way");
    let hasty = Reconciler::new(service, Duration::ZERO);
    world.registry.scope(hasty.sweep(&Stop::never())).await.unwrap();
    assert_eq!(world.get(url).await.body["status"], "APPROVED");
    charged_once(&world.ledger().await);
}

#[tokio::test]
async fn a_late_webhook_settles_the_payment_and_the_order() {
    let world = World::settling(&[], &signed()).await;
    world.webhooks(Some(300)).await;
    world.provider_faults(DROPS).await;
    let placed = world.order(&book(1)).await;
    assert_eq!(placed.body["payment_status"], "PENDING");
    until("the order is confirmed", async || {
        order_of(&world, &placed).await["status"] == "CONFIRMED"
    })
    .await;
    assert_eq!(world.payment_of(&placed).await.body["settled_by"], "CALLBACK");
    charged_once(&world.ledger().await);
}

#[tokio::test]
async fn a_forged_or_unsigned_callback_is_401_and_changes_nothing() {
    let world = World::settling(&[], &signed()).await;
    world.provider_faults(DROPS).await;
    let placed = world.order(&book(1)).await;
    let payment = world.payment_of(&placed).await.body;
    let reference = payment["idempotency_key"].as_str().unwrap();
    let body = callback(reference, "APPROVED");
    let forged = Secret::new("another secret, of an attacker").unwrap().sign(&body);
    let of_another = secret().sign(&callback("another", "APPROVED"));
    for base in [world.system.order.url(), world.system.payment.url()] {
        for signature in [None, Some(""), Some("00"), Some(&*forged), Some(&*of_another)] {
            let answer = world.callback(&base, signature, body.clone()).await;
            assert_eq!(
                (answer.status, &answer.body["error"]),
                (401, &json!("BAD_SIGNATURE")),
                "{signature:?}"
            );
        }
    }
    assert_eq!(world.payment_of(&placed).await.body, payment);
    assert_eq!(order_of(&world, &placed).await["payment_status"], "PENDING");
}

#[tokio::test]
async fn without_a_secret_no_callback_is_believed() {
    let world = World::start(&[]).await;
    let body = callback("k", "APPROVED");
    for base in [world.system.order.url(), world.system.payment.url()] {
        let answer = world.callback(&base, Some(&secret().sign(&body)), body.clone()).await;
        assert_eq!(answer.status, 401, "{answer:?}");
    }
    assert_eq!(
        world.post(format!("{}/webhooks", world.system.provider.url()), &json!({})).await.status,
        404
    );
}

#[tokio::test]
async fn a_callback_that_comes_again_or_contradicts_the_first_changes_nothing() {
    let world = World::settling(&[], &signed()).await;
    world.provider_faults(DROPS).await;
    let placed = world.order(&book(1)).await;
    let payment = world.payment_of(&placed).await.body;
    let reference = payment["idempotency_key"].as_str().unwrap();
    for verdict in ["APPROVED", "APPROVED", "DECLINED"] {
        let body = callback(reference, verdict);
        let signature = secret().sign(&body);
        let answer = world.callback(&world.system.order.url(), Some(&signature), body).await;
        assert_eq!((answer.status, &answer.body["status"]), (200, &json!("APPROVED")));
    }
    assert_eq!(order_of(&world, &placed).await["status"], "CONFIRMED");
}

#[tokio::test]
async fn a_signed_callback_for_a_payment_that_nobody_made_is_404_and_one_that_is_none_is_400() {
    let world = World::settling(&[], &signed()).await;
    for (body, status, code) in
        [(callback("nobody", "APPROVED"), 404, "NOT_FOUND"), (b"{}".to_vec(), 400, "BAD_JSON")]
    {
        for base in [world.system.order.url(), world.system.payment.url()] {
            let signature = secret().sign(&body);
            let answer = world.callback(&base, Some(&signature), body.clone()).await;
            assert_eq!((answer.status, &answer.body["error"]), (status, &json!(code)));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_payments_that_callback_and_reconciler_settle_together_are_settled_once_each() {
    const PAYMENTS: usize = 1_000;
    let once = ("retry.instances.payment.max_attempts", "1");
    let world = World::settling(&[NO_BREAKER, once], &signed()).await;
    world.provider_faults(DROPS).await;
    let mut payments = tokio::task::JoinSet::new();
    let base = world.system.payment.url();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for number in 0..PAYMENTS {
        let request = client
            .post(format!("{base}/payments"))
            .header("idempotency-key", format!("k{number}"))
            .header("x-user-id", 1)
            .json(&json!({ "order_id": format!("o{number}"), "amount": 100 }));
        payments.spawn(async move { request.send().await.unwrap().json::<Value>().await.unwrap() });
        if payments.len() == 50 {
            assert_eq!(payments.join_next().await.unwrap().unwrap()["status"], "TIMEOUT");
        }
    }
    while let Some(payment) = payments.join_next().await {
        assert_eq!(payment.unwrap()["status"], "TIMEOUT");
    }
    world.provider_faults(FaultPlan::HEALTHY).await;

    // The database itself counts how often a payment becomes settled.
    let database = world.system.database("payment");
    support::database::count_settlements(&database).await;
    let (service, store) = beside(&world).await;
    let reconciler = Reconciler::new(service, Duration::from_mins(1));
    let asking = async {
        while !store.open_payments(1).await.unwrap().is_empty() {
            reconciler.sweep(&Stop::never()).await.unwrap();
        }
    };
    let telling = async {
        // About the ones that the reconciler is at, mixed up, so that either may be first.
        let numbers: Vec<_> = (0..PAYMENTS).collect();
        for chunk in numbers.chunks(50) {
            let mut chunk = chunk.to_vec();
            fastrand::shuffle(&mut chunk);
            let mut callbacks = tokio::task::JoinSet::new();
            for number in chunk {
                let body = callback(&format!("k{number}"), "APPROVED");
                let request = client
                    .post(format!("{base}/payments/callback"))
                    .header("x-signature", secret().sign(&body))
                    .body(body);
                callbacks.spawn(async move { request.send().await.unwrap().status() });
                if callbacks.len() == 2 {
                    assert_eq!(callbacks.join_next().await.unwrap().unwrap(), 200);
                }
            }
            while let Some(status) = callbacks.join_next().await {
                assert_eq!(status.unwrap(), 200);
            }
        }
    };
    tokio::join!(world.registry.scope(asking), telling);

    let settled = support::database::settlements(&database).await;
    assert_eq!(settled.len(), PAYMENTS);
    assert!(settled.iter().all(|(_, times, _)| *times == 1), "{settled:?}");
    let by = |who: &str| settled.iter().filter(|(.., by)| by == who).count();
    let (callbacks, asked) = (by("CALLBACK"), by("RECONCILER"));
    assert!(callbacks > 0 && asked > 0, "they race: {callbacks} by callback, {asked} by asking");
    eprintln!("settled {callbacks} by callback, {asked} by asking");
    let ledger = world.ledger().await;
    assert_eq!(ledger.len(), PAYMENTS);
    charged_once(&ledger);
}

#[tokio::test]
async fn an_order_whose_payment_was_declined_can_be_paid_again() {
    let world = World::start(&[]).await;
    let order = json!({ "user_id": 1, "sku": "book", "quantity": 1, "amount": 1_000_001 });
    let declined = world.order(&order).await;
    assert_eq!(declined.status, 402);
    let id = declined.body["order_id"].as_str().unwrap();
    let again = format!("{}/orders/{id}/payment", world.system.order.url());
    assert_eq!(world.post(again.clone(), &json!({})).await.status, 402, "the card's limit stays");

    world
        .put(format!("{}/limit", world.system.provider.url()), &json!({ "amount": 2_000_000 }))
        .await;
    let paid = world.post(again.clone(), &json!({})).await;
    assert_eq!((paid.status, &paid.body["status"]), (200, &json!("CONFIRMED")));
    let twice = world.post(again, &json!({})).await;
    assert_eq!((twice.status, &twice.body), (200, &paid.body), "what is paid is not paid again");
    let approved = |charge: &&Value| charge["verdict"] == "APPROVED";
    assert_eq!(world.ledger().await.iter().filter(approved).count(), 1);
    let nobody = format!("{}/orders/nobody/payment", world.system.order.url());
    assert_eq!(world.post(nobody, &json!({})).await.status, 404);
}

#[tokio::test]
async fn an_order_whose_payment_is_unknown_is_not_paid_again() {
    let world = World::start(&[]).await;
    world.provider_faults(DROPS).await;
    let placed = world.order(&book(1)).await;
    world.provider_faults(FaultPlan::HEALTHY).await;
    let id = placed.body["order_id"].as_str().unwrap();
    let again = format!("{}/orders/{id}/payment", world.system.order.url());
    let refused = world.post(again, &json!({})).await;
    assert_eq!((refused.status, &refused.body["error"]), (409, &json!("PAYMENT_PENDING")));
    charged_once(&world.ledger().await);
}
