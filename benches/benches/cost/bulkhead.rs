//! A bulkhead: with a free slot, and full.

use std::{
    future::pending,
    pin::pin,
    task::{Context, Waker},
};

use resilience_bench::{
    Run,
    body::{Failed, body, now, serve, service},
    ours,
    peers::tower_resilience,
    settings, versions,
};
use tokio::sync::Semaphore;
use tower::{Service, limit::ConcurrencyLimit};

pub(super) fn rows(run: &mut Run) {
    let case = "bulkhead";
    let bulkhead = ours::bulkhead(settings::CONCURRENT);
    run.row(case, ours::NAME, || now(bulkhead.call(body(1))));
    let semaphore = Semaphore::new(settings::CONCURRENT as usize);
    let with_a_permit = || {
        let permit = semaphore.try_acquire();
        permit.is_ok().then(|| now(body(1)))
    };
    run.row(case, &format!("{} semaphore", versions::of("tokio")), with_a_permit);
    let mut peer = ConcurrencyLimit::new(service(), settings::CONCURRENT as usize);
    run.row(case, &versions::of("tower"), || serve(&mut peer));
    let mut peer = tower_resilience::bulkhead(settings::CONCURRENT);
    run.row(case, &versions::of("tower-resilience"), || serve(&mut peer));

    let case = "refused: bulkhead full";
    let bulkhead = ours::bulkhead(1);
    let taken = bulkhead.try_acquire().expect("a free slot");
    run.row(case, ours::NAME, || now(bulkhead.call(body(1))));
    drop(taken);
    let semaphore = Semaphore::new(0);
    let with_a_permit = || {
        let permit = semaphore.try_acquire();
        permit.is_ok().then(|| now(body(1)))
    };
    run.row(case, &format!("{} semaphore", versions::of("tokio")), with_a_permit);
    // A call that never ends has its only slot.
    let waits = tower::service_fn(|_: u64| pending::<Result<u64, Failed>>());
    let mut full = tower_resilience::bulkhead_around(1, waits);
    let mut taking = pin!(full.call(1));
    assert!(taking.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(serve(&mut full).is_err());
    run.row(case, &versions::of("tower-resilience"), || serve(&mut full));
}
