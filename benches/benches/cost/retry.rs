//! The bare body, and a retry whose first attempt succeeds.

use backon::Retryable;
use layered::Service;
use resilience_bench::{
    Run,
    body::{body, serve},
    now, ours,
    peers::{hand_made, seatbelt, tower_resilience},
    versions,
};

pub(super) fn rows(run: &mut Run) {
    run.row("bare body", "std", || now!(body(1)));

    let case = "retry";
    let retry = ours::retry();
    run.row(case, ours::NAME, || now!(retry.call(|| body(1))));
    let backoff = hand_made::backoff();
    run.row(case, &versions::of("backon"), || now!((|| body(1)).retry(backoff)));
    let mut service = tower_resilience::retry();
    run.row(case, &versions::of("tower-resilience"), || serve(&mut service));
    let service = seatbelt::retry(&seatbelt::context());
    run.row(case, &versions::of("seatbelt"), || now!(service.execute(1)));
}
