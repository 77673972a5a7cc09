//! A breaker: closed, with failures among the calls, open.

use ::failsafe::futures::CircuitBreaker as _;
use ::tower_resilience::circuitbreaker::CircuitBreakerError;
use layered::Service as _;
use resilience::circuit_breaker::State;
use resilience_bench::{
    Run,
    body::{body, fails, one_in_a_hundred_fails, serve},
    now, ours,
    peers::{failsafe, recloser, seatbelt, tower_resilience},
    settings, versions,
};
use tower::service_fn;

pub(super) fn rows(run: &mut Run) {
    closed(run);
    untimed(run);
    some_fail(run);
    subscribed(run);
    open(run);
}

fn closed(run: &mut Run) {
    let case = "circuit breaker closed";
    let breaker = ours::breaker();
    run.row(case, ours::NAME, || now!(breaker.call(body(1))));
    let breaker = recloser::breaker();
    run.row(case, &versions::of("recloser"), || now!(breaker.call(body(1))));
    let breaker = failsafe::breaker();
    run.row(case, &versions::of("failsafe"), || now!(breaker.call(body(1))));
    let mut service = tower_resilience::breaker(settings::WINDOW);
    run.row(case, &versions::of("tower-resilience"), || serve(&mut service));
    let service = seatbelt::breaker(&seatbelt::context());
    run.row(case, &versions::of("seatbelt"), || now!(service.execute(1)));
}

fn untimed(run: &mut Run) {
    let case = "circuit breaker closed, no call is slow";
    let breaker = ours::untimed_breaker();
    run.row(case, ours::NAME, || now!(breaker.call(body(1))));
    let breaker = recloser::breaker();
    run.row(case, &versions::of("recloser"), || now!(breaker.call(body(1))));
}

fn some_fail(run: &mut Run) {
    let case = "circuit breaker, 1 % of calls fail";
    let (breaker, body) = (ours::breaker(), one_in_a_hundred_fails());
    run.row(case, ours::NAME, || now!(breaker.call(body())));
    let (breaker, body) = (recloser::breaker(), one_in_a_hundred_fails());
    run.row(case, &versions::of("recloser"), || now!(breaker.call(body())));
    let (breaker, body) = (failsafe::breaker(), one_in_a_hundred_fails());
    run.row(case, &versions::of("failsafe"), || now!(breaker.call(body())));
    let body = one_in_a_hundred_fails();
    let layer = tower_resilience::breaker_layer(settings::WINDOW);
    let mut service = layer.layer_fn(service_fn(move |_: u64| body()));
    run.row(case, &versions::of("tower-resilience"), || serve(&mut service));
}

fn subscribed(run: &mut Run) {
    let breaker = ours::breaker();
    let subscription = breaker.events().subscribe(|_| ());
    run.row("circuit breaker closed, a subscriber", ours::NAME, || now!(breaker.call(body(1))));
    drop(subscription);
}

fn open(run: &mut Run) {
    let case = "refused by an open circuit breaker";
    let breaker = ours::breaker();
    breaker.transition_to(State::Open).expect("a closed one can be opened");
    run.row(case, ours::NAME, || now!(breaker.call(body(1))));

    let breaker = recloser::breaker();
    // It judges at the first failure after its window is full.
    (0..=settings::WINDOW).for_each(|_| drop(now!(breaker.call(fails()))));
    assert!(matches!(now!(breaker.call(body(1))), Err(::recloser::Error::Rejected)));
    run.row(case, &versions::of("recloser"), || now!(breaker.call(body(1))));
    let breaker = failsafe::open();
    run.row(case, &versions::of("failsafe"), || now!(breaker.call(body(1))));
    let layer = tower_resilience::breaker_layer(settings::WINDOW);
    let mut service = layer.layer_fn(service_fn(|_: u64| fails()));
    (0..=settings::WINDOW).for_each(|_| drop(serve(&mut service)));
    assert!(matches!(serve(&mut service), Err(CircuitBreakerError::OpenCircuit)));
    run.row(case, &versions::of("tower-resilience"), || serve(&mut service));
}
