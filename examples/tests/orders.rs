//! Orders: what the customer gets.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::time::Duration;

use axum::{Router, body::to_bytes, extract::Request, http::StatusCode};
use examples::{
    assembly::{self, OrderUrls, Settling},
    faults::FaultPlan,
    order::{OrderRequest, OrderStore},
    web::Server,
};
use resilience::circuit_breaker::State;
use serde_json::json;
use support::{Answer, World, book, database::count, until};

#[tokio::test]
async fn an_approved_payment_confirms_the_order() {
    let world = World::start(&[]).await;
    let placed = world.order(&book(1)).await;
    assert_eq!(placed.status, 200, "{placed:?}");
    assert_eq!(placed.body["status"], "CONFIRMED");
    assert_eq!(placed.body["payment_status"], "APPROVED");

    let id = placed.body["order_id"].as_str().expect("an id");
    let read = world.get(format!("{}/orders/{id}", world.system.order.url())).await;
    assert_eq!((read.status, read.body), (200, placed.body.clone()));
    assert_eq!(world.payment_of(&placed).await.body["status"], "APPROVED");
}

#[tokio::test]
async fn a_declined_payment_is_402_and_the_order_stands() {
    let world = World::start(&[]).await;
    let order = json!({ "user_id": 1, "sku": "book", "quantity": 1, "amount": 1_000_001 });
    let declined = world.order(&order).await;
    assert_eq!(declined.status, 402, "{declined:?}");
    assert_eq!(declined.body["error"], "PAYMENT_DECLINED");
    assert_eq!(declined.body["status"], "ORDERED");
    assert_eq!(declined.body["payment_status"], "REJECTED");

    let id = declined.body["order_id"].as_str().expect("an id");
    let read = world.get(format!("{}/orders/{id}", world.system.order.url())).await;
    assert_eq!(
        (&read.body["status"], &read.body["payment_status"]),
        (&json!("ORDERED"), &json!("REJECTED"))
    );
    assert_eq!(world.payment_of(&declined).await.body["status"], "REJECTED");
}

#[tokio::test]
async fn declined_payments_say_nothing_about_the_provider() {
    let world = World::start(&[("ratelimiter.instances.orderRl.limit_for_period", "1000")]).await;
    for user_id in 0..12 {
        let order =
            json!({ "user_id": user_id, "sku": "book", "quantity": 1, "amount": 1_000_001 });
        assert_eq!(world.order(&order).await.status, 402);
    }
    for name in ["paymentCb", "paymentServiceCb"] {
        let breaker = world.registry.circuit_breaker(name);
        assert_eq!(breaker.state(), State::Closed, "{name}");
        assert_eq!(breaker.metrics().buffered_calls, 0, "{name}");
    }
}

#[tokio::test]
async fn what_is_sold_out_or_not_sold_is_refused_and_never_paid() {
    let world = World::start(&[]).await;
    let unicorn = json!({ "user_id": 1, "sku": "unicorn", "quantity": 1, "amount": 99_000 });
    let sold_out = world.order(&unicorn).await;
    assert_eq!((sold_out.status, &sold_out.body["error"]), (409, &json!("OUT_OF_STOCK")));
    let nothing = json!({ "user_id": 1, "sku": "nothing", "quantity": 1, "amount": 1 });
    let unknown = world.order(&nothing).await;
    assert_eq!((unknown.status, &unknown.body["error"]), (404, &json!("UNKNOWN_SKU")));
    for refused in [sold_out, unknown] {
        assert_nothing_was_ordered(&refused);
    }
    assert_eq!(support::database::orders(&world.system.database("order")).await, []);
    assert!(world.ledger().await.is_empty());
}

#[tokio::test]
async fn a_double_click_is_placed_once() {
    let world = World::start(&[]).await;
    world.provider_faults(FaultPlan { delay_ms: 500, ..FaultPlan::default() }).await;
    let order = book(1);
    let (first, second) = tokio::join!(world.order(&order), world.order(&order));
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{first:?} {second:?}");
    assert_eq!(world.ledger().await.len(), 1);

    world.provider_faults(FaultPlan::default()).await;
    assert_eq!(world.order(&order).await.status, 200, "the same order later is another order");
}

#[tokio::test]
async fn an_order_that_may_have_a_reservation_is_withdrawn_once_the_inventory_is_back() {
    let often = Settling { every: Duration::from_millis(20), ..Settling::default() };
    for fault in [
        FaultPlan { error_rate: 1.0, ..FaultPlan::default() },
        FaultPlan { drop_rate: 1.0, ..FaultPlan::default() },
    ] {
        let world = World::settling(&[], &often).await;
        let orders = world.system.database("order");
        world.inventory_faults(fault).await;
        let failed = world.order(&book(1)).await;
        assert_eq!(failed.status, 503, "{failed:?}");
        assert_eq!(failed.body["error"], "DEPENDENCY_UNAVAILABLE");
        assert!(failed.retry_after.is_some());
        assert_nothing_was_ordered(&failed);
        assert_eq!(count(&orders, "orders").await, 1, "the trace of what may be kept");
        let id = support::database::order_id(&orders).await;
        let read = world.get(format!("{}/orders/{id}", world.system.order.url())).await;
        assert_eq!(read.status, 404, "{read:?}");

        world.inventory_faults(FaultPlan::default()).await;
        until("it is forgotten", async || count(&orders, "orders").await == 0).await;
        assert_eq!(count(&world.system.database("inventory"), "reservations").await, 0);
        assert!(world.ledger().await.is_empty());
    }
}

#[tokio::test]
async fn a_withdrawal_is_carried_through_although_the_client_hangs_up() {
    let world = World::start(&[]).await;
    let (orders, stock) = (world.system.database("order"), world.system.database("inventory"));
    let breaks_off = FaultPlan { delay_ms: 500, drop_rate: 1.0, ..FaultPlan::default() };
    world.inventory_faults(breaks_off).await;
    let book = book(1);
    tokio::select! {
        answer = world.order(&book) => panic!("answered before the hang-up: {answer:?}"),
        () = async {
            until("stock is kept", async || count(&stock, "reservations").await == 1).await;
            let answers_late = FaultPlan { delay_ms: 500, ..FaultPlan::default() };
            world.inventory_faults(answers_late).await;
            until("it is given back", async || count(&stock, "reservations").await == 0).await;
        } => {}
    }
    assert_eq!(count(&orders, "orders").await, 1, "the inventory has not answered yet");
    until("the order is forgotten", async || count(&orders, "orders").await == 0).await;
}

#[tokio::test]
async fn an_order_that_the_inventory_never_saw_leaves_nothing_behind() {
    let world = World::start(&[]).await;
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("order.db");
    let urls = OrderUrls { inventory_url: support::refusing_url(), ..world.order_urls() };
    let (accounts, settling) = (world.accounts(), Settling::default());
    let app = assembly::order(&world.registry, &database, &urls, &accounts, &settling);
    let app = app.await.unwrap();
    let order = Server::start(0, app).await.unwrap();

    let refused = world.post(format!("{}/orders", order.url()), &book(1)).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.retry_after.is_some());
    assert_nothing_was_ordered(&refused);

    world.registry.circuit_breaker("inventoryCb").transition_to(State::Open).unwrap();
    let refused = world.post(format!("{}/orders", order.url()), &book(1)).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_nothing_was_ordered(&refused);
    assert_eq!(support::database::orders(&database).await, []);
}

#[tokio::test]
async fn no_transaction_is_open_while_the_inventory_is_called() {
    let world = World::start(&[]).await;
    world.inventory_faults(FaultPlan { delay_ms: 500, ..FaultPlan::default() }).await;
    let slots = world.registry.bulkhead("inventoryBh");
    let order = book(1);
    let (placed, ()) = tokio::join!(world.order(&order), async {
        until("the inventory is called", async || slots.available_concurrent_calls() == 9).await;
        support::database::assert_writable(&world.system.database("order")).await;
        assert_eq!(slots.available_concurrent_calls(), 9, "the call went on meanwhile");
    });
    assert_eq!(placed.status, 200, "{placed:?}");
}

#[tokio::test]
async fn products_are_read_without_any_other_service() {
    let world = World::start(&[]).await;
    let base = world.system.order.url();
    let book = world.get(format!("{base}/products/book")).await;
    assert_eq!((book.status, &book.body["price"]), (200, &json!(12_000)));
    assert_eq!(world.get(format!("{base}/products/nothing")).await.status, 404);
    assert_eq!(world.get(format!("{base}/products")).await.body.as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn a_key_that_comes_again_names_the_same_order() {
    let world = World::start(&[]).await;
    let first = world.keyed_order("k", &book(1)).await;
    let again = world.keyed_order("k", &book(1)).await;
    assert_eq!(first.status, 200, "{first:?}");
    assert_eq!((again.status, again.body), (200, first.body));
    assert_eq!(world.ledger().await.len(), 1);

    let other = world.keyed_order("k", &book(2)).await;
    assert_eq!((other.status, &other.body["error"]), (422, &json!("IDEMPOTENCY_KEY_REUSED")));
}

#[tokio::test]
async fn a_refused_order_can_be_placed_again_under_its_key_as_soon_as_the_inventory_is_back() {
    let world = World::start(&[]).await;
    for fault in [
        FaultPlan { error_rate: 1.0, ..FaultPlan::default() },
        FaultPlan { drop_rate: 1.0, ..FaultPlan::default() },
    ] {
        world.inventory_faults(fault).await;
        assert_eq!(world.keyed_order("k", &book(1)).await.status, 503, "{fault:?}");
    }
    world.inventory_faults(FaultPlan::default()).await;
    let again = world.keyed_order("k", &book(1)).await;
    assert_eq!((again.status, &again.body["status"]), (200, &json!("CONFIRMED")));
    assert_eq!(world.ledger().await.len(), 1);
    let kept = count(&world.system.database("inventory"), "reservations").await;
    assert_eq!(kept, 1, "what the first attempts reserved is given back");
}

#[tokio::test]
async fn an_order_left_pending_is_not_undone_by_a_second_attempt_that_fails() {
    let world = World::start(&[]).await;
    world.provider_faults(FaultPlan { drop_rate: 1.0, ..FaultPlan::default() }).await;
    let pending = world.keyed_order("k", &book(1)).await;
    assert_eq!((pending.status, &pending.body["payment_status"]), (200, &json!("PENDING")));
    world.inventory_faults(FaultPlan { error_rate: 1.0, ..FaultPlan::default() }).await;
    let failed = world.keyed_order("k", &book(1)).await;
    assert_eq!(failed.status, 503, "{failed:?}");
    assert_eq!(failed.body["order_id"], pending.body["order_id"]);
    assert_stands(&world, &failed).await;

    world.registry.circuit_breaker("inventoryCb").transition_to(State::Open).unwrap();
    let refused = world.keyed_order("k", &book(1)).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_stands(&world, &refused).await;
}

/// Another order process at the same database, which knows nothing of the clicks of the first.
async fn beside(world: &World, inventory: &Server, settling: &Settling) -> Server {
    let database = world.system.database("order");
    let urls = OrderUrls { inventory_url: inventory.base_url(), ..world.order_urls() };
    let accounts = world.accounts();
    let app = assembly::order(&world.registry, &database, &urls, &accounts, settling);
    Server::start(0, app.await.unwrap()).await.unwrap()
}

/// Places an order under a key at a process whose reservation breaks off late, and goes on with it at
/// another one meanwhile, whose inventory has these faults. Returns the answers of both.
async fn go_on_beside(world: &World, faults: FaultPlan) -> (Answer, Answer) {
    let database = world.system.database("inventory");
    let app = assembly::inventory(&world.registry, &database, &world.accounts()).await.unwrap();
    let inventory = Server::start(0, app).await.unwrap();
    world.put(format!("{}/faults", inventory.url()), &json!(faults)).await;
    let server = beside(world, &inventory, &Settling::default()).await;
    support::database::note_releases(&database).await;
    let slow = FaultPlan { delay_ms: 1_000, drop_rate: 1.0, ..FaultPlan::default() };
    world.inventory_faults(slow).await;
    let book = book(1);
    tokio::join!(world.keyed_order("k", &book), async {
        until("stock is reserved", async || count(&database, "reservations").await == 1).await;
        world.inventory_faults(FaultPlan::default()).await;
        world.keyed_post(&format!("{}/orders", server.url()), "k", &book).await
    })
}

#[tokio::test]
async fn an_order_that_another_process_goes_on_with_is_not_withdrawn() {
    // It is paid for before the first process gives up, or after.
    for delay_ms in [0, 2_000] {
        let world = World::start(&[]).await;
        let faults = FaultPlan { delay_ms, ..FaultPlan::default() };
        let (failed, placed) = go_on_beside(&world, faults).await;
        assert_eq!((placed.status, &placed.body["status"]), (200, &json!("CONFIRMED")));
        assert_eq!(failed.status, 503, "{failed:?}");
        let id = placed.body["order_id"].as_str().expect("an id");
        assert_eq!(failed.body["order_id"], id, "{failed:?}");
        let read = world.get(format!("{}/orders/{id}", world.system.order.url())).await;
        assert_eq!((read.status, &read.body["status"]), (200, &json!("CONFIRMED")));
        let stock = world.system.database("inventory");
        assert_eq!(count(&stock, "reservations").await, 1);
        assert_eq!(count(&stock, "released").await, 0, "not even for a moment");
    }
}

#[tokio::test]
async fn an_order_that_nobody_was_asked_to_pay_for_is_withdrawn_with_its_stock() {
    let withdraw_after = Duration::from_millis(500);
    let settling =
        Settling { every: Duration::from_millis(20), withdraw_after, ..Settling::default() };
    let world = World::settling(&[], &settling).await;
    hang_up_while_reserving(&world).await;
    world.inventory_faults(FaultPlan::default()).await;
    let (orders, stock) = (world.system.database("order"), world.system.database("inventory"));
    until("it is forgotten", async || count(&orders, "orders").await == 0).await;
    assert_eq!(count(&stock, "reservations").await, 0);
    assert!(world.ledger().await.is_empty());
}

#[tokio::test]
async fn an_order_that_nobody_was_asked_to_pay_for_can_be_paid_until_it_is_withdrawn() {
    let world = World::start(&[]).await;
    hang_up_while_reserving(&world).await;
    world.inventory_faults(FaultPlan::default()).await;
    let id = support::database::order_id(&world.system.database("order")).await;
    let pay = format!("{}/orders/{id}/payment", world.system.order.url());
    let paid = world.post(pay, &json!({})).await;
    assert_eq!((paid.status, &paid.body["status"]), (200, &json!("CONFIRMED")), "{paid:?}");
    assert_eq!(count(&world.system.database("inventory"), "reservations").await, 1);
    assert_eq!(world.ledger().await.len(), 1);
}

#[tokio::test]
async fn an_order_that_is_withdrawn_as_abandoned_while_it_is_placed_is_not_charged_for() {
    let settling = Settling {
        every: Duration::from_millis(20),
        withdraw_after: Duration::ZERO, // as if its inventory took minutes
        ..Settling::default()
    };
    let world = World::settling(&[], &settling).await;
    world.inventory_faults(FaultPlan { delay_ms: 300, ..FaultPlan::default() }).await;
    let placed = world.order(&book(1)).await;
    assert_eq!(placed.status, 503, "{placed:?}");
    assert!(placed.retry_after.is_some());
    assert_nothing_was_ordered(&placed);
    let (orders, stock) = (world.system.database("order"), world.system.database("inventory"));
    until("it is forgotten", async || count(&orders, "orders").await == 0).await;
    until("stock is given back", async || count(&stock, "reservations").await == 0).await;
    assert!(world.ledger().await.is_empty());
}

/// The way to the inventory of a reservation that was asked for before its order was withdrawn as abandoned,
/// and arrives after it: it is made, and the answer says that it failed.
async fn late_reservations(world: &World) -> Server {
    let (client, orders) = (reqwest::Client::new(), world.system.database("order"));
    let inventory = world.system.inventory.url();
    let app = Router::new().fallback(move |request: Request| async move {
        let (parts, body) = request.into_parts();
        let is_reservation = parts.uri.path() == "/inventory/reserve";
        if is_reservation {
            // Until it is forgotten, or nobody waits any more.
            while count(&orders, "orders").await > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        let body = to_bytes(body, usize::MAX).await.unwrap();
        let call = client.post(format!("{inventory}{}", parts.uri)).headers(parts.headers);
        let done = call.body(body).send().await.unwrap().status();
        assert!(done.is_success(), "{done}");
        if is_reservation { StatusCode::INTERNAL_SERVER_ERROR } else { done }
    });
    Server::start(0, app).await.unwrap()
}

#[tokio::test]
async fn stock_that_is_kept_after_its_order_was_withdrawn_as_abandoned_is_given_back() {
    for is_gone_on_with in [false, true] {
        let world = World::start(&[]).await;
        let (orders, stock) = (world.system.database("order"), world.system.database("inventory"));
        support::database::note_releases(&stock).await;
        let settling = Settling {
            every: Duration::from_millis(20),
            withdraw_after: Duration::from_secs(1),
            ..Settling::default()
        };
        let inventory = late_reservations(&world).await;
        let server = beside(&world, &inventory, &settling).await;
        let url = format!("{}/orders", server.url());
        let failed = if is_gone_on_with {
            let request =
                OrderRequest { user_id: 1, sku: "book".into(), quantity: 1, amount: 12_000 };
            let order = request.into_order().unwrap();
            let store = OrderStore::open(&orders).await.unwrap();
            assert!(store.insert(Some("k"), &order).await.unwrap());
            world.keyed_post(&url, "k", &book(1)).await
        } else {
            world.post(url, &book(1)).await
        };
        assert_eq!(failed.status, 503, "{failed:?}");
        assert_nothing_was_ordered(&failed);
        assert_eq!(count(&stock, "released").await, 1, "it was kept, and given back");
        assert_eq!(count(&stock, "reservations").await, 0);
        assert!(world.ledger().await.is_empty());
    }
}

/// Orders without a key, and leaves when stock is kept and nobody was asked for the money.
async fn hang_up_while_reserving(world: &World) {
    let stock = world.system.database("inventory");
    world.inventory_faults(FaultPlan { delay_ms: 5_000, ..FaultPlan::default() }).await;
    let book = book(1);
    tokio::select! {
        answer = world.order(&book) => panic!("answered before the hang-up: {answer:?}"),
        () = until("stock is kept", async || count(&stock, "reservations").await == 1) => {}
    }
}

#[tokio::test]
async fn an_order_that_another_process_has_told_of_is_not_withdrawn() {
    let world = World::start(&[]).await;
    let faults = FaultPlan { error_rate: 1.0, ..FaultPlan::default() };
    let (failed, told) = go_on_beside(&world, faults).await;
    assert_eq!((failed.status, told.status), (503, 503));
    assert_stands(&world, &told).await;
    assert_stands(&world, &failed).await;
}

#[tokio::test]
async fn of_two_processes_that_get_a_key_at_once_one_places_the_order() {
    let world = World::start(&[("ratelimiter.instances.orderRl.limit_for_period", "1000")]).await;
    let server = beside(&world, &world.system.inventory, &Settling::default()).await;
    let other = format!("{}/orders", server.url());
    for round in 0..20 {
        let (key, book) = (format!("k{round}"), book(1));
        let (one, two) =
            tokio::join!(world.keyed_order(&key, &book), world.keyed_post(&other, &key, &book));
        for answer in [one, two] {
            assert!(matches!(answer.status, 200 | 409), "{answer:?}");
        }
    }
    assert_eq!(count(&world.system.database("order"), "orders").await, 20);
}

#[tokio::test]
async fn a_payment_service_that_is_down_leaves_orders_pending() {
    let world = World::start(&[]).await;
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("order.db");
    let urls = OrderUrls { payment_url: support::refusing_url(), ..world.order_urls() };
    let (accounts, settling) = (world.accounts(), Settling::default());
    let app = assembly::order(&world.registry, &database, &urls, &accounts, &settling);
    let app = app.await.unwrap();
    let order = Server::start(0, app).await.unwrap();

    let placed = world.post(format!("{}/orders", order.url()), &book(1)).await;
    assert_eq!((placed.status, &placed.body["payment_status"]), (200, &json!("PENDING")));
    let failed = world.registry.circuit_breaker("paymentServiceCb").metrics().failed_calls;
    assert_eq!(failed, 1, "the fallback hides nothing from the breaker");
    let retry = world.registry.retry("reconnect").metrics();
    assert_eq!(retry.failed_with_retry, 1, "a refused connection is tried once more: {retry:?}");
    // Order and inventory ask for the version and for the role.
    let calls = "four to the account service, one to the inventory, two to the payment";
    assert_eq!(retry.total_calls, 7, "{calls}: {retry:?}");
}

/// Asserts that the error names an order which is there, not paid as far as is known.
async fn assert_stands(world: &World, error: &Answer) {
    let message = error.body["message"].as_str().expect("a message");
    assert!(message.contains("stands"), "{message}");
    let id = error.body["order_id"].as_str().expect("an id");
    let order = world.get(format!("{}/orders/{id}", world.system.order.url())).await;
    assert_eq!(order.status, 200, "{order:?}");
    for (field, value) in [("status", "ORDERED"), ("payment_status", "PENDING")] {
        assert_eq!((&error.body[field], &order.body[field]), (&json!(value), &json!(value)));
    }
}

fn assert_nothing_was_ordered(error: &Answer) {
    let message = error.body["message"].as_str().expect("a message");
    assert!(message.ends_with("; nothing was ordered"), "{message}");
    assert!(error.body.get("order_id").is_none(), "{error:?}");
}
