//! 1,000 instances used in turn: what is not in the processor's nearest cache.

use resilience_bench::{
    Run,
    body::{body, serve},
    now,
    ours::{self, Five},
    peers::{failsafe, recloser, tower_resilience},
    settings, versions,
};

pub(super) fn rows(run: &mut Run) {
    let case = "1,000 circuit breakers in turn";
    let mut breakers = InTurn::new(ours::breaker);
    run.row(case, ours::NAME, || now!(breakers.next().call(body(1))));
    let mut breakers = InTurn::new(recloser::breaker);
    run.row(case, &versions::of("recloser"), || now!(breakers.next().call(body(1))));
    let mut breakers = InTurn::new(failsafe::breaker);
    run.row(case, &versions::of("failsafe"), || {
        now!(::failsafe::futures::CircuitBreaker::call(breakers.next(), body(1)))
    });
    let mut breakers = InTurn::new(|| tower_resilience::breaker(settings::WINDOW));
    run.row(case, &versions::of("tower-resilience"), || serve(breakers.next()));

    let case = "1,000 stacks of five in turn";
    let mut stacks = InTurn::new(|| Five::new().stack());
    run.row(case, ours::NAME, || now!(stacks.next().call(|| body(1))));
    let mut stacks = InTurn::new(tower_resilience::stack);
    run.row(case, &versions::of("tower-resilience"), || serve(stacks.next()));
}

/// Instances, of which each call takes the next.
struct InTurn<I> {
    instances: Vec<I>,
    at: usize,
}

impl<I> InTurn<I> {
    fn new(make: impl Fn() -> I) -> Self {
        Self { instances: (0..1_000).map(|_| make()).collect(), at: 0 }
    }

    fn next(&mut self) -> &mut I {
        self.at = (self.at + 1) % self.instances.len();
        &mut self.instances[self.at]
    }
}
