//! All five layers around one call.

use std::time::Duration;

use layered::Service as _;
use resilience::{bulkhead, circuit_breaker, rate_limiter, retry, time_limiter, tower::StackLayer};
use resilience_bench::{
    Run,
    body::{Answer, body, serve, service},
    now,
    ours::{self, Five},
    peers::{hand_made::HandMade, seatbelt, tower_resilience},
    versions,
};
use tower::Layer;

pub(super) fn rows(run: &mut Run) {
    let case = "stack of five";
    run.row(case, &ours("attributes"), || now!(annotated(1)));
    let stack = Five::new().stack();
    run.row(case, &ours("Stack"), || now!(stack.call(|| body(1))));
    let mut layered = StackLayer::new(stack).layer(service());
    run.row(case, &ours("tower layer"), || serve(&mut layered));
    let by_hand = HandMade::new();
    let crates = "backon, recloser, governor and tokio by hand";
    run.row(case, crates, || now!(by_hand.call()));
    let mut peer = tower_resilience::stack();
    run.row(case, &versions::of("tower-resilience"), || serve(&mut peer));

    let case = "stack of retry, circuit breaker and time limiter";
    let Five { retry, breaker, time_limiter, .. } = Five::new();
    let stack = resilience::Stack::builder().retry(retry).circuit_breaker(breaker);
    let stack = stack.time_limiter(time_limiter).build();
    run.row(case, &ours("Stack"), || now!(stack.call(|| body(1))));
    let peer = seatbelt::stack(&seatbelt::context());
    run.row(case, &versions::of("seatbelt"), || now!(peer.execute(1)));

    let Five { retry, breaker, limiter, bulkhead, .. } = Five::new();
    let stack = resilience::Stack::builder().retry(retry).circuit_breaker(breaker);
    let stack = stack.rate_limiter(limiter).bulkhead(bulkhead).build();
    let case = "stack of four, no time limiter";
    run.row(case, &ours("Stack"), || now!(stack.call(|| body(1))));
    run.row(case, &ours("Stack, blocking"), || stack.call_blocking(|| now!(body(1))));

    disabled(run);
    subscribed(run);
    under_a_deadline(run);
}

fn ours(how: &str) -> String {
    format!("{}, {how}", ours::NAME)
}

fn disabled(run: &mut Run) {
    let five = Five::new();
    five.retry.set_enabled(false);
    five.breaker.set_enabled(false);
    five.limiter.set_enabled(false);
    five.time_limiter.set_enabled(false);
    five.bulkhead.set_enabled(false);
    let stack = five.stack();
    run.row("stack of five, all disabled", &ours("Stack"), || now!(stack.call(|| body(1))));
}

fn subscribed(run: &mut Run) {
    let five = Five::new();
    let stack = five.stack();
    let subscriptions = (
        five.retry.events().subscribe(|_| ()),
        five.breaker.events().subscribe(|_| ()),
        five.limiter.events().subscribe(|_| ()),
        five.time_limiter.events().subscribe(|_| ()),
        five.bulkhead.events().subscribe(|_| ()),
    );
    run.row("stack of five, a subscriber at each", &ours("Stack"), || now!(stack.call(|| body(1))));
    drop(subscriptions);
}

fn under_a_deadline(run: &mut Run) {
    let case = "stack of five, deadline";
    let Five { retry, breaker, limiter, time_limiter, bulkhead } = Five::new();
    let stack = resilience::Stack::builder()
        .retry(retry)
        .circuit_breaker(breaker)
        .rate_limiter(limiter)
        .time_limiter(time_limiter)
        .bulkhead(bulkhead)
        .deadline()
        .build();
    run.row(case, &ours("Stack that sets one"), || now!(stack.call(|| body(1))));
    let stack = Five::new().stack();
    run.row(case, &ours("Stack below `with_deadline`"), || {
        now!(resilience::with_deadline(Duration::from_mins(1), stack.call(|| body(1))))
    });
}

#[retry(name = "bench", max_attempts = 3, wait_duration = "500ms")]
#[circuit_breaker(name = "bench", sliding_window_size = 100, failure_rate_threshold = 50)]
#[rate_limiter(
    name = "bench",
    limit_for_period = 1_000_000_000,
    limit_refresh_period = "1s",
    timeout_duration = "0s"
)]
#[time_limiter(name = "bench", timeout_duration = "1s")]
#[bulkhead(name = "bench", max_concurrent_calls = 25)]
async fn annotated(n: u64) -> Answer {
    body(n).await
}
