//! A bulkhead: with a free slot, and full.

use resilience_bench::{
    Run,
    body::{body, serve, service},
    now, ours,
    peers::tower_resilience,
    settings, versions,
};
use tokio::sync::Semaphore;
use tower::limit::ConcurrencyLimit;

pub(super) fn rows(run: &mut Run) {
    let case = "bulkhead";
    let bulkhead = ours::bulkhead(settings::CONCURRENT);
    run.row(case, ours::NAME, || now!(bulkhead.call(body(1))));
    let semaphore = Semaphore::new(settings::CONCURRENT as usize);
    let with_a_permit = || {
        let permit = semaphore.try_acquire();
        permit.is_ok().then(|| now!(body(1)))
    };
    run.row(case, &format!("{} semaphore", versions::of("tokio")), with_a_permit);
    let mut peer = ConcurrencyLimit::new(service(), settings::CONCURRENT as usize);
    run.row(case, &versions::of("tower"), || serve(&mut peer));
    let mut peer = tower_resilience::bulkhead(settings::CONCURRENT);
    run.row(case, &versions::of("tower-resilience"), || serve(&mut peer));

    // tower-resilience has no row here: it refuses by a timer that has run out, not at once.
    let case = "refused by a full bulkhead";
    let bulkhead = ours::bulkhead(1);
    let taken = bulkhead.try_acquire().expect("a free slot");
    run.row(case, ours::NAME, || now!(bulkhead.call(body(1))));
    drop(taken);
    let semaphore = Semaphore::new(0);
    let with_a_permit = || {
        let permit = semaphore.try_acquire();
        permit.is_ok().then(|| now!(body(1)))
    };
    run.row(case, &format!("{} semaphore", versions::of("tokio")), with_a_permit);
}
