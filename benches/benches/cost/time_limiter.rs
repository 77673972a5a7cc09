//! A time limit around a call that is ready before any timer is looked at.

use layered::Service as _;
use resilience_bench::{
    Run,
    body::{body, serve, service},
    now, ours,
    peers::{seatbelt, tower_resilience},
    settings, versions,
};
use tower::timeout::Timeout;

pub(super) fn rows(run: &mut Run) {
    let case = "time limiter";
    let limiter = ours::time_limiter();
    run.row(case, ours::NAME, || now!(limiter.call(body(1))));
    run.row(case, &versions::of("tokio"), || {
        now!(tokio::time::timeout(settings::TIMEOUT, body(1)))
    });
    let mut peer = Timeout::new(service(), settings::TIMEOUT);
    run.row(case, &versions::of("tower"), || serve(&mut peer));
    let mut peer = tower_resilience::time_limiter();
    run.row(case, &versions::of("tower-resilience"), || serve(&mut peer));
    let peer = seatbelt::timeout(&seatbelt::context());
    run.row(case, &versions::of("seatbelt"), || now!(peer.execute(1)));
}
