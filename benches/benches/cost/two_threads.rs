//! Two threads on one instance. A thread that has to wait for the other parks, as a runtime's would.

use std::{sync::Arc, time::Duration};

use ::failsafe::futures::CircuitBreaker as _;
use resilience::rate_limiter::Refill;
use resilience_bench::{
    Run,
    body::{body, serve_waiting, wait},
    ours::{self, Five},
    peers::{failsafe, governor, hand_made::HandMade, recloser, tower_resilience},
    settings, versions,
};

/// A closure of its own for each thread, around a clone of one instance.
fn sharing<I: Clone, O, F: FnMut() -> O>(instance: I, call: impl Fn(I) -> F) -> impl Fn() -> F {
    move || call(instance.clone())
}

pub(super) fn rows(run: &mut Run) {
    breakers(run);
    limiters(run);
    bulkheads(run);
    stacks(run);
}

fn breakers(run: &mut Run) {
    let case = "two threads, one circuit breaker";
    run.two_threads(
        case,
        ours::NAME,
        sharing(ours::breaker(), |breaker| move || wait(breaker.call(body(1)))),
    );
    run.two_threads(
        case,
        &versions::of("recloser"),
        sharing(recloser::breaker(), |breaker| move || wait(breaker.call(body(1)))),
    );
    run.two_threads(
        case,
        &versions::of("failsafe"),
        sharing(failsafe::breaker(), |breaker| move || wait(breaker.call(body(1)))),
    );
    let service = tower_resilience::breaker(settings::WINDOW);
    run.two_threads(
        case,
        &versions::of("tower-resilience"),
        sharing(service, |mut service| move || serve_waiting(&mut service)),
    );
}

fn limiters(run: &mut Run) {
    let case = "two threads, one rate limiter";
    for (refill, name) in [(Refill::Interval, "by interval"), (Refill::Greedy, "greedy")] {
        let by = format!("{}, {name}", ours::NAME);
        run.two_threads(
            case,
            &by,
            sharing(ours::limiter(refill), |limiter| move || wait(limiter.call(body(1)))),
        );
    }
    let by = format!("{}, std clock", versions::of("governor"));
    run.two_threads(
        case,
        &by,
        sharing(Arc::new(governor::on_std_clock()), |limiter| {
            move || limiter.check().is_ok().then(|| wait(body(1)))
        }),
    );
    let service = tower_resilience::limiter(settings::LIMIT, Duration::from_secs(1));
    run.two_threads(
        case,
        &versions::of("tower-resilience"),
        sharing(service, |mut service| move || serve_waiting(&mut service)),
    );
}

fn bulkheads(run: &mut Run) {
    let case = "two threads, one bulkhead";
    run.two_threads(
        case,
        ours::NAME,
        sharing(ours::bulkhead(settings::CONCURRENT), |bulkhead| {
            move || wait(bulkhead.call(body(1)))
        }),
    );
    let service = tower_resilience::bulkhead(settings::CONCURRENT);
    run.two_threads(
        case,
        &versions::of("tower-resilience"),
        sharing(service, |mut service| move || serve_waiting(&mut service)),
    );
}

fn stacks(run: &mut Run) {
    let case = "two threads, one stack of five";
    run.two_threads(
        case,
        ours::NAME,
        sharing(Five::new().stack(), |stack| move || wait(stack.call(|| body(1)))),
    );
    let crates = "backon, recloser, governor and tokio by hand";
    run.two_threads(case, crates, sharing(HandMade::new(), |stack| move || wait(stack.call())));
    run.two_threads(
        case,
        &versions::of("tower-resilience"),
        sharing(tower_resilience::stack(), |mut service| move || serve_waiting(&mut service)),
    );
}
