//! Who gets in, and who does not while that cannot be told.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Router, http::StatusCode};
use examples::{
    access::Lifetimes,
    assembly::{self, Accounts, OrderUrls, Settling},
    faults::FaultPlan,
    web::{Port, Server},
};
use resilience::circuit_breaker::State;
use serde_json::{Value, json};
use support::{Answer, World, book, database, until};

const FAILS: FaultPlan = FaultPlan { error_rate: 1.0, ..FaultPlan::HEALTHY };
const DROPS: FaultPlan = FaultPlan { drop_rate: 1.0, ..FaultPlan::HEALTHY };
const HANGS: FaultPlan = FaultPlan { delay_ms: 60_000, ..FaultPlan::HEALTHY };

/// Longer than any test.
const LONG: Duration = Duration::from_hours(1);
const LONG_LIVES: Lifetimes = Lifetimes { allowed: LONG, denied: LONG, version: LONG };

/// For tests in which single calls fail, which is not about the breaker.
const NO_BREAKER: (&str, &str) = ("circuitbreaker.instances.accountAccess.enabled", "false");

async fn set_role(world: &World, user: i64, has_service_role: bool) {
    let url = format!("{}/users/{user}", world.system.account.url());
    world.put(url, &json!({ "has_service_role": has_service_role })).await;
}

/// How often the account service was asked for roles, and for their version.
async fn questions(world: &World) -> (u64, u64) {
    let asked = world.get(format!("{}/questions", world.system.account.url())).await.body;
    (asked["roles"].as_u64().unwrap(), asked["versions"].as_u64().unwrap())
}

/// What every service has written down: orders, reservations and payments.
async fn written(world: &World) -> usize {
    let mut rows = 0;
    for (service, table) in
        [("order", "orders"), ("inventory", "reservations"), ("payment", "payments")]
    {
        rows += database::count(&world.system.database(service), table).await;
    }
    rows
}

fn assert_forbidden(answer: &Answer) {
    assert_eq!((answer.status, &answer.body["error"]), (403, &json!("FORBIDDEN")), "{answer:?}");
    assert_eq!(answer.retry_after, None, "to come back is no use");
}

fn assert_undecided(answer: &Answer) {
    let told = (answer.status, &answer.body["error"]);
    assert_eq!(told, (503, &json!("ACCESS_UNKNOWN")), "{answer:?}");
    let wait: u64 = answer.retry_after.as_deref().unwrap().parse().unwrap();
    assert!(wait >= 1);
}

/// Stops the account service, so that nobody listens at its port.
async fn stop_account(world: &mut World) -> u16 {
    let other = Server::start(0, Router::new()).await.unwrap();
    let account = std::mem::replace(&mut world.system.account, other);
    let port = account.address().port();
    account.stop().await.unwrap();
    port
}

/// An inventory that asks another account service than the rest of the system.
async fn inventory_of(world: &World, accounts: &Accounts) -> (Server, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("inventory.db");
    let app = assembly::inventory(&world.registry, &database, accounts).await.unwrap();
    (Server::start(0, app).await.unwrap(), directory)
}

fn accounts_at(account: &Server) -> Accounts {
    Accounts { account_url: account.base_url(), lifetimes: Lifetimes::default() }
}

#[tokio::test]
async fn who_has_no_role_or_does_not_exist_is_403_everywhere_and_nothing_is_written() {
    let world = World::start(&[]).await;
    set_role(&world, 1, false).await;
    for user in [1, -1, 1_000_000] {
        assert_forbidden(&world.order(&book(user)).await);
        assert_forbidden(&world.reserve(Some(&user.to_string()), "o").await);
    }
    assert_forbidden(&world.pay("k", &json!({ "order_id": "o", "amount": 100 })).await);
    assert_eq!(written(&world).await, 0);
    assert!(world.ledger().await.is_empty());
}

#[tokio::test]
async fn a_user_who_does_not_exist_is_neither_success_nor_failure_for_the_breaker() {
    let world = World::start(&[]).await;
    for user in 1_000_000..1_000_010 {
        assert_forbidden(&world.order(&book(user)).await);
    }
    let access = world.registry.circuit_breaker("accountAccess");
    assert_eq!((access.state(), access.metrics().buffered_calls), (State::Closed, 0));
}

#[tokio::test]
async fn a_request_on_behalf_of_nobody_is_401_and_giving_back_needs_nobody() {
    let world = World::start(&[]).await;
    for nobody in [None, Some(""), Some("x"), Some("1.5")] {
        let refused = world.reserve(nobody, "o").await;
        let told = (refused.status, &refused.body["error"]);
        assert_eq!(told, (401, &json!("USER_MISSING")), "{nobody:?}");
    }
    let payments = format!("{}/payments", world.system.payment.url());
    let body = json!({ "order_id": "o", "amount": 100 });
    assert_eq!(world.keyed_post(&payments, "k", &body).await.status, 401);
    assert_eq!(written(&world).await, 0);

    world.account_faults(FAILS).await;
    let release = format!("{}/inventory/release", world.system.inventory.url());
    assert_eq!(world.post(release, &json!({ "order_id": "o" })).await.status, 204);
}

#[tokio::test]
async fn while_it_cannot_be_told_nobody_new_gets_in_and_nothing_is_written() {
    let world = World::start(&[NO_BREAKER]).await;
    for (user, faults) in [(1, FAILS), (2, DROPS), (3, HANGS)] {
        world.account_faults(faults).await;
        let refused = world.order(&book(user)).await;
        assert_undecided(&refused);
        assert!(refused.took < Duration::from_secs(5), "{:?}", refused.took);
        assert_undecided(&world.reserve(Some("1"), "o").await);
        assert_undecided(&world.pay("k", &json!({ "order_id": "o", "amount": 100 })).await);
    }
    assert_eq!(written(&world).await, 0);
    assert!(world.ledger().await.is_empty());
}

#[tokio::test]
async fn an_account_service_that_is_gone_lets_nobody_in_until_it_is_back() {
    let open = ("circuitbreaker.instances.accountAccess.wait_duration_in_open_state", "50ms");
    let mut world = World::start(&[open]).await;
    let port = stop_account(&mut world).await;
    for user in 0..5 {
        assert_undecided(&world.order(&book(user)).await);
    }
    let access = world.registry.circuit_breaker("accountAccess");
    assert_ne!(access.state(), State::Closed, "five connections were refused");
    assert_eq!(written(&world).await, 0);

    let app = assembly::account(&world.registry);
    let port = Port::bind(port).await.unwrap();
    world.system.account = port.serve(app);
    let mut users = 100..;
    until("the breaker has closed", async || {
        let user = users.next().unwrap();
        world.reserve(Some(&user.to_string()), &format!("o{user}")).await;
        access.state() == State::Closed
    })
    .await;
    assert_eq!(world.order(&book(1)).await.body["status"], "CONFIRMED");
}

#[tokio::test]
async fn what_was_allowed_stays_so_in_an_outage_for_its_time_and_no_longer() {
    let allowed = Duration::from_millis(600);
    let world = World::remembering(&[], Lifetimes { allowed, ..LONG_LIVES }).await;
    let before = Instant::now();
    assert_eq!(world.reserve(Some("1"), "o").await.status, 204);
    let after = Instant::now();
    world.account_faults(FAILS).await;

    // To be used all the time does not make it last.
    let mut last_allowed = before;
    let refused = loop {
        let asked = Instant::now();
        let answer = world.reserve(Some("1"), "o").await;
        if answer.status != 204 {
            break answer;
        }
        last_allowed = asked;
        assert!(before.elapsed() < Duration::from_secs(10), "it does not end");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_undecided(&refused);
    assert!(before.elapsed() >= allowed, "it ended too soon: {:?}", before.elapsed());
    assert!(last_allowed > after, "nothing was allowed in the outage");
    let longest = last_allowed.duration_since(after);
    assert!(longest <= allowed, "it lasted too long: {longest:?}");
}

#[tokio::test]
async fn what_was_denied_stays_so_for_its_time_and_no_longer() {
    let denied = Duration::from_millis(600);
    let world = World::remembering(&[], Lifetimes { denied, ..LONG_LIVES }).await;
    set_role(&world, 1, false).await;
    let before = Instant::now();
    assert_forbidden(&world.reserve(Some("1"), "o").await);
    set_role(&world, 1, true).await;
    until("the user gets in", async || {
        let answer = world.reserve(Some("1"), "o").await;
        if answer.status != 204 {
            assert_forbidden(&answer);
        }
        answer.status == 204
    })
    .await;
    assert!(before.elapsed() >= denied, "{:?}", before.elapsed());
    assert_eq!(questions(&world).await.0, 2, "it was remembered in between");
}

#[test]
fn a_yes_is_good_for_a_minute_and_a_no_for_ten_seconds() {
    let lifetimes = Lifetimes::default();
    assert_eq!((lifetimes.allowed.as_secs(), lifetimes.denied.as_secs()), (60, 10));
}

#[tokio::test]
async fn a_failure_is_not_remembered() {
    let world = World::start(&[]).await;
    world.account_faults(FAILS).await;
    assert_undecided(&world.reserve(Some("1"), "o").await);
    world.account_faults(FaultPlan::HEALTHY).await;
    assert_eq!(world.reserve(Some("1"), "o").await.status, 204);
}

/// A hundred requests at once on behalf of a user who is not known yet, while the account service takes
/// longer to answer than all of them to come.
async fn stampede(faults: FaultPlan) -> (Arc<World>, Vec<Answer>) {
    let patience = [
        ("timelimiter.instances.accountAccessTl.timeout_duration", "10s"),
        ("timelimiter.instances.accountWaitTl.timeout_duration", "20s"),
    ];
    let world = Arc::new(World::remembering(&patience, LONG_LIVES).await);
    // The version is known by then.
    assert_eq!(world.reserve(Some("2"), "first").await.status, 204);
    assert_eq!(questions(&world).await, (1, 1));
    world.account_faults(FaultPlan { delay_ms: 1_500, ..faults }).await;
    let requests: Vec<_> = (0..100)
        .map(|number| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.reserve(Some("1"), &format!("o{number}")).await })
        })
        .collect();
    let mut answers = Vec::new();
    for request in requests {
        answers.push(request.await.unwrap());
    }
    (world, answers)
}

#[tokio::test]
async fn a_hundred_who_miss_the_same_answer_at_once_ask_once() {
    let (world, answers) = stampede(FaultPlan::HEALTHY).await;
    assert!(answers.iter().all(|answer| answer.status == 204), "{answers:?}");
    assert_eq!(questions(&world).await, (2, 1));
    assert_eq!(written(&world).await, 101);
}

#[tokio::test]
async fn a_hundred_who_wait_for_a_call_that_fails_are_told_so_by_that_one_call() {
    let (world, answers) = stampede(DROPS).await;
    answers.iter().for_each(assert_undecided);
    assert_eq!(questions(&world).await, (2, 1));
    assert_eq!(written(&world).await, 1);
}

#[tokio::test]
async fn when_the_one_who_asks_hangs_up_another_who_waits_asks() {
    let world = Arc::new(World::start(&[]).await);
    // The version is known by then, so that the next question is the one for the role.
    assert_eq!(world.reserve(Some("2"), "first").await.status, 204);
    let (asked, _) = questions(&world).await;
    world.account_faults(FaultPlan { delay_ms: 300, ..FaultPlan::HEALTHY }).await;
    let reserve = |order: &'static str| {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.reserve(Some("1"), order).await })
    };
    let asks = reserve("a");
    until("the account service is asked", async || questions(&world).await.0 == asked + 1).await;
    let waits = reserve("b");
    tokio::time::sleep(Duration::from_millis(50)).await; // until it waits, or there is less to see
    asks.abort();
    assert!(asks.await.unwrap_err().is_cancelled());
    assert_eq!(waits.await.unwrap().status, 204);
    assert_eq!(questions(&world).await.0, asked + 2);
    let access = world.registry.circuit_breaker("accountAccess");
    assert_eq!(access.metrics().failed_calls, 0, "to hang up is no failure of who was asked");
}

#[tokio::test]
async fn who_waits_too_long_for_the_answer_to_somebody_else_does_not_get_in() {
    let patience = ("timelimiter.instances.accountWaitTl.timeout_duration", "100ms");
    let world = World::start(&[patience]).await;
    world.account_faults(FaultPlan { delay_ms: 800, ..FaultPlan::HEALTHY }).await;
    let refused = world.reserve(Some("1"), "o").await;
    assert_undecided(&refused);
    assert!(refused.took < Duration::from_millis(800), "{:?}", refused.took);
}

#[tokio::test]
async fn of_a_rush_of_users_who_are_not_known_a_few_are_asked_for_and_the_others_do_not_get_in() {
    let changes = [
        ("bulkhead.instances.accountAccessBh.max_concurrent_calls", "3"),
        ("timelimiter.instances.accountAccessTl.timeout_duration", "1h"),
        ("timelimiter.instances.accountWaitTl.timeout_duration", "1h"),
    ];
    let world = Arc::new(World::remembering(&changes, LONG_LIVES).await);
    assert_eq!(world.reserve(Some("0"), "known").await.status, 204);
    let (asked, _) = questions(&world).await;
    world.account_faults(HANGS).await;
    let mut rush = tokio::task::JoinSet::new();
    for user in 1..=3 {
        let world = Arc::clone(&world);
        rush.spawn(async move { world.order(&book(user)).await });
    }
    until("three are asked for", async || questions(&world).await.0 == asked + 3).await;
    for user in 4..10 {
        let refused = world.order(&book(user)).await;
        assert_undecided(&refused);
        assert_eq!(refused.retry_after.as_deref(), Some("1"));
    }
    assert_eq!(questions(&world).await.0, asked + 3, "nobody else is asked for");
    let access = world.registry.circuit_breaker("accountAccess").metrics();
    assert_eq!(access.failed_calls, 0, "our own limit is no failure of who is asked");
    let permits = world.registry.rate_limiter("orderRl").available_permissions();
    assert_eq!(permits, 10, "strangers use up nothing of what customers are permitted");
    assert_eq!(world.reserve(Some("0"), "again").await.status, 204, "who is known gets in");

    rush.shutdown().await;
    let slots = world.registry.bulkhead("accountAccessBh");
    until("they have hung up", async || slots.available_concurrent_calls() == 3).await;
}

#[tokio::test]
async fn a_role_that_is_lost_is_noticed_long_before_the_permission_ends() {
    let version = Duration::from_millis(20);
    let world = World::remembering(&[], Lifetimes { version, ..LONG_LIVES }).await;
    assert_eq!(world.reserve(Some("1"), "o").await.status, 204);
    set_role(&world, 1, false).await;
    until("the user is out", async || world.reserve(Some("1"), "o").await.status == 403).await;
}

#[tokio::test]
async fn a_version_that_is_not_told_leaves_permissions_as_they_were_and_every_answer_says_so() {
    let version = Duration::from_millis(20);
    let open = ("circuitbreaker.instances.accountRead.wait_duration_in_open_state", "20ms");
    let world = World::remembering(&[open], Lifetimes { version, ..LONG_LIVES }).await;
    let first = world.reserve(Some("1"), "o").await;
    assert_eq!((first.status, first.is_unchecked), (204, false));

    world.account_faults(FAILS).await;
    set_role(&world, 1, false).await;
    until("the version is over", async || world.reserve(Some("1"), "o").await.is_unchecked).await;
    for _ in 0..10 {
        let kept = world.reserve(Some("1"), "o").await;
        assert_eq!((kept.status, kept.is_unchecked), (204, true));
    }
    let read = world.registry.circuit_breaker("accountRead");
    assert_ne!(read.state(), State::Closed, "it is seen by who looks as well");

    world.account_faults(FaultPlan::HEALTHY).await;
    until("the user is out", async || world.reserve(Some("1"), "o").await.status == 403).await;
}

#[tokio::test]
async fn each_question_has_a_breaker_of_its_own_that_decides_nothing_for_the_other() {
    let world = World::remembering(&[], LONG_LIVES).await;
    let breaker = |name| world.registry.circuit_breaker(name);
    breaker("accountRead").transition_to(State::ForcedOpen).unwrap();
    let new = world.reserve(Some("1"), "o1").await;
    assert_eq!((new.status, new.is_unchecked), (204, true), "open: who is allowed gets in");

    breaker("accountRead").transition_to(State::Closed).unwrap();
    assert_eq!(world.reserve(Some("1"), "o1").await.status, 204);
    breaker("accountAccess").transition_to(State::ForcedOpen).unwrap();
    let known = world.reserve(Some("1"), "o1").await;
    assert_eq!((known.status, known.is_unchecked), (204, false));
    assert_undecided(&world.reserve(Some("2"), "o2").await); // closed: who is not known does not
}

#[tokio::test]
async fn an_account_service_that_says_when_to_come_back_is_not_asked_before() {
    let world = World::start(&[]).await;
    let busy = async || (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "7")]);
    let account = Server::start(0, Router::new().fallback(busy)).await.unwrap();
    let (inventory, _directory) = inventory_of(&world, &accounts_at(&account)).await;
    let reserve = async |user: &str| reserve_at(&inventory, user).await;
    for user in ["1", "2"] {
        let (status, retry_after, body) = reserve(user).await;
        assert_eq!((status, &body["error"]), (503, &json!("ACCESS_UNKNOWN")));
        assert!((6..=7).contains(&retry_after), "{retry_after}");
    }
    let access = world.registry.circuit_breaker("accountAccess");
    assert_eq!(access.state(), State::Open, "by the first answer");
    assert_eq!(access.metrics().buffered_calls, 0, "which is no failure");
}

#[tokio::test]
async fn a_server_that_is_no_account_service_lets_nobody_in_and_denies_nobody() {
    let world = World::start(&[]).await;
    let account = Server::start(0, Router::new()).await.unwrap(); // 404 to everything
    let (inventory, _directory) = inventory_of(&world, &accounts_at(&account)).await;
    let (status, _, body) = reserve_at(&inventory, "1").await;
    assert_eq!((status, &body["error"]), (503, &json!("ACCESS_UNKNOWN")));
}

async fn reserve_at(inventory: &Server, user: &str) -> (u16, u64, Value) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client
        .post(format!("{}/inventory/reserve", inventory.url()))
        .header("x-user-id", user)
        .json(&json!({ "order_id": "o", "sku": "book", "quantity": 1 }));
    let response = request.send().await.unwrap();
    let (status, retry_after) =
        (response.status().as_u16(), response.headers()["retry-after"].to_str().unwrap().parse());
    (status, retry_after.unwrap(), response.json().await.unwrap())
}

#[tokio::test]
async fn a_gate_further_inside_that_cannot_tell_is_no_failure_of_the_service_behind_it() {
    let world = World::start(&[]).await;
    let nobody = Accounts { account_url: support::refusing_url(), lifetimes: Lifetimes::default() };
    let (inventory, _kept) = inventory_of(&world, &nobody).await;
    let directory = tempfile::tempdir().unwrap();
    let orders = directory.path().join("order.db");
    let urls = OrderUrls { inventory_url: inventory.base_url(), ..world.order_urls() };
    let (accounts, settling) = (world.accounts(), Settling::default());
    let order = assembly::order(&world.registry, &orders, &urls, &accounts, &settling);
    let order = Server::start(0, order.await.unwrap()).await.unwrap();
    let refused = world.post(format!("{}/orders", order.url()), &book(1)).await;
    assert_undecided(&refused);
    assert_eq!(refused.body["order_id"], Value::Null, "no order stands");
    assert_eq!(database::count(&orders, "orders").await, 0);
    let breaker = world.registry.circuit_breaker("inventoryCb");
    assert_eq!(breaker.metrics().buffered_calls, 0);
    assert!(world.ledger().await.is_empty());
}

#[tokio::test]
async fn a_payment_of_which_it_cannot_be_told_whether_the_user_may_is_pending_and_paid_later() {
    let often = Settling { every: Duration::from_millis(20), ..Settling::default() };
    let world = World::start(&[]).await;
    let directory = tempfile::tempdir().unwrap();
    let (orders, payments) = (directory.path().join("order.db"), directory.path().join("pay.db"));
    // Its account service is not there yet.
    let at_account = Port::bind(0).await.unwrap();
    let account_url = at_account.base_url();
    let port = account_url.to_string().rsplit(':').next().unwrap().parse().unwrap();
    drop(at_account);
    let late = Accounts { account_url, lifetimes: Lifetimes::default() };
    let providers = assembly::ProviderUrls {
        provider_url: world.system.provider.base_url(),
        second_provider_url: None,
        third_provider_url: None,
    };
    let payment = assembly::payment(&world.registry, &payments, &providers, &late, &often);
    let payment = Server::start(0, payment.await.unwrap()).await.unwrap();
    let urls = OrderUrls { payment_url: payment.base_url(), ..world.order_urls() };
    let accounts = world.accounts();
    let order = assembly::order(&world.registry, &orders, &urls, &accounts, &often);
    let order = Server::start(0, order.await.unwrap()).await.unwrap();

    let placed = world.post(format!("{}/orders", order.url()), &book(1)).await;
    assert_eq!((placed.status, &placed.body["payment_status"]), (200, &json!("PENDING")));
    assert!(world.ledger().await.is_empty());
    let breaker = world.registry.circuit_breaker("paymentServiceCb");
    assert_eq!(breaker.metrics().failed_calls, 0);

    let app = assembly::account(&world.registry);
    let _account = Port::bind(port).await.unwrap().serve(app);
    let url = format!("{}/orders/{}", order.url(), placed.body["order_id"].as_str().unwrap());
    until("the order is paid", async || world.get(url.clone()).await.body["status"] == "CONFIRMED")
        .await;
    support::charged_once(&world.ledger().await);
}

#[tokio::test]
async fn an_order_is_paid_again_only_for_a_user_who_still_may() {
    let version = Duration::from_millis(1);
    let world = World::remembering(&[], Lifetimes { version, ..LONG_LIVES }).await;
    let order = json!({ "user_id": 1, "sku": "book", "quantity": 1, "amount": 1_000_001 });
    let declined = world.order(&order).await;
    assert_eq!(declined.status, 402);
    let id = declined.body["order_id"].as_str().unwrap();
    let again = format!("{}/orders/{id}/payment", world.system.order.url());
    set_role(&world, 1, false).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_forbidden(&world.post(again.clone(), &json!({})).await);
    assert_eq!(world.ledger().await.len(), 1, "the declined one");
    set_role(&world, 1, true).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(world.post(again, &json!({})).await.status, 402);
    let nothing = format!("{}/orders/nothing/payment", world.system.order.url());
    assert_eq!(world.post(nothing, &json!({})).await.status, 404);
}

#[tokio::test]
async fn reads_do_not_need_the_account_service() {
    let world = World::start(&[]).await;
    let placed = world.order(&book(1)).await;
    world.account_faults(HANGS).await;
    let id = placed.body["order_id"].as_str().unwrap();
    for path in ["products".to_owned(), "products/book".to_owned(), format!("orders/{id}")] {
        let answer = world.get(format!("{}/{path}", world.system.order.url())).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.took < Duration::from_millis(300), "{path}: {:?}", answer.took);
    }
}
