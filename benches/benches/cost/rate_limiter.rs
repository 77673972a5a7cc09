//! A limiter: with permissions left in both ways of refilling, and without.

use std::time::Duration;

use resilience::rate_limiter::Refill;
use resilience_bench::{
    Run,
    body::{body, serve, service},
    now, ours,
    peers::{governor, tower_resilience},
    settings, versions,
};
use tower::limit::{RateLimit, rate::Rate};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);

pub(super) fn rows(run: &mut Run) {
    let case = "rate limiter, by interval";
    let limiter = ours::limiter(Refill::Interval);
    run.row(case, ours::NAME, || now!(limiter.call(body(1))));
    let mut peer = tower_resilience::limiter(settings::LIMIT, SECOND);
    run.row(case, &versions::of("tower-resilience"), || serve(&mut peer));
    let mut peer = RateLimit::new(service(), Rate::new(settings::LIMIT.into(), SECOND));
    run.row(case, &versions::of("tower"), || serve(&mut peer));

    let case = "rate limiter, greedy";
    let limiter = ours::limiter(Refill::Greedy);
    run.row(case, ours::NAME, || now!(limiter.call(body(1))));
    let limiter = governor::on_std_clock();
    run.row(case, &format!("{}, std clock", versions::of("governor")), || {
        limiter.check().is_ok().then(|| now!(body(1)))
    });
    let limiter = governor::limiter();
    run.row(case, &format!("{}, TSC clock", versions::of("governor")), || {
        limiter.check().is_ok().then(|| now!(body(1)))
    });

    let case = "refused by an empty rate limiter";
    for (refill, name) in [(Refill::Interval, "by interval"), (Refill::Greedy, "greedy")] {
        let limiter = ours::limiter_of(1, HOUR, refill);
        limiter.drain();
        assert!(now!(limiter.call(body(1))).is_err());
        run.row(case, &format!("{}, {name}", ours::NAME), || now!(limiter.call(body(1))));
    }
    let mut empty = tower_resilience::limiter(1, HOUR);
    drop(serve(&mut empty));
    assert!(serve(&mut empty).is_err());
    run.row(case, &versions::of("tower-resilience"), || serve(&mut empty));
    let limiter = governor::empty();
    run.row(case, &format!("{}, TSC clock", versions::of("governor")), || {
        limiter.check().is_ok().then(|| now!(body(1)))
    });
}
