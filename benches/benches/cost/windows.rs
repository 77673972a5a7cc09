//! What a breaker's window costs by its size, and by the calls that it holds.

use std::time::Duration;

use resilience::circuit_breaker::SlidingWindowType;
use resilience_bench::{
    Run,
    body::{body, serve},
    now, ours,
    peers::tower_resilience,
    versions,
};

/// Long enough for no call to fall out of the window while it is measured.
const WINDOW_SECONDS: u32 = 60;
const WINDOW: Duration = Duration::from_secs(WINDOW_SECONDS as u64);

pub(super) fn rows(run: &mut Run) {
    let peer = versions::of("tower-resilience");
    for size in [10, 100, 10_000] {
        let case = format!("window of {size} calls");
        let breaker = ours::breaker_over(SlidingWindowType::CountBased, size);
        run.row(&case, ours::NAME, || now!(breaker.call(body(1))));
        let mut service = tower_resilience::breaker(size);
        run.row(&case, &peer, || serve(&mut service));
    }
    few_held(run, &peer);
    many_held(run, &peer);
}

/// The windows hold 100 to 200 calls: with fewer, a breaker need not judge.
fn few_held(run: &mut Run, peer: &str) {
    let case = "window of time, some 100 calls held";
    run.row_in_batches(case, ours::NAME, 100, || {
        let breaker = ours::breaker_over(SlidingWindowType::TimeBased, WINDOW_SECONDS);
        filled(100, move || now!(breaker.call(body(1))))
    });
    run.row_in_batches(case, peer, 100, || {
        let mut service = tower_resilience::breaker_over_time(WINDOW);
        filled(100, move || serve(&mut service))
    });
}

/// The windows hold 30,000 to 40,000 calls: filling one for each batch would take minutes.
fn many_held(run: &mut Run, peer: &str) {
    const BATCH: u32 = 1_000;
    let case = "window of time, some 30,000 calls held";
    let breaker = || ours::breaker_over(SlidingWindowType::TimeBased, WINDOW_SECONDS);
    run.row_in_batches(
        case,
        ours::NAME,
        BATCH,
        anew_after_ten(breaker, |breaker| {
            let breaker = breaker.clone();
            move || now!(breaker.call(body(1)))
        }),
    );
    let service = || tower_resilience::breaker_over_time(WINDOW);
    run.row_in_batches(
        case,
        peer,
        BATCH,
        anew_after_ten(service, |service| {
            let mut service = service.clone();
            move || serve(&mut service)
        }),
    );
}

fn filled<O>(held: u32, mut call: impl FnMut() -> O) -> impl FnMut() -> O {
    (0..held).for_each(|_| drop(call()));
    call
}

/// Calls through one instance that holds 30,000 of them already, for ten batches.
fn anew_after_ten<I, O, F: FnMut() -> O>(
    make: impl Fn() -> I,
    calls: impl Fn(&I) -> F,
) -> impl FnMut() -> F {
    let mut batches = 0;
    let mut instance = None;
    move || {
        if batches % 10 == 0 {
            let new = make();
            drop(filled(30_000, calls(&new)));
            instance = Some(new);
        }
        batches += 1;
        calls(instance.as_ref().expect("made for the first batch"))
    }
}
