use std::{
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    arrivals::Arrivals,
    backend::{Backend, Failed},
    executor::Executor,
    phases::nanos,
    record::{Record, Step, Transition},
    scenario::Scenario,
    stack,
};
use crate::{
    CallError, CircuitBreaker, Clock, Config, ManualClock, Resilience, Rules, Stack,
    circuit_breaker::CircuitBreakerEventKind, events::Subscription,
};

const SECOND: u64 = 1_000_000_000;

/// As many changes of state are told.
const MOST_TRANSITIONS: usize = 1_000;

/// A call that has ended: how, and how long it took.
type Call = (Result<(), CallError<Failed>>, Duration);

/// Runs a scenario on the instances of a configuration.
///
/// # Errors
///
/// What the two have against each other.
pub(super) fn run(config: Config, scenario: &Rc<Scenario>) -> Result<Record, String> {
    // What the library draws, as for the spread of waits, comes from the thread's generator.
    fastrand::seed(scenario.seed);
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let registry = Resilience::of_another_program(config, clock.clone());
    let (stack, names) = stack::build(&registry, scenario)?;
    let breaker = names.circuit_breaker.as_deref().map(|name| registry.circuit_breaker(name));
    let watched = breaker.as_ref().map(watch);
    let mut simulation = Simulation {
        backend: Backend::new(scenario, clock.clone()),
        rules: Rc::new(Rules::new().kinds()),
        executor: Executor::new(),
        record: Record::default(),
        step: Step::default(),
        reached: 0,
        stack,
        breaker,
        clock,
        hand,
    };
    simulation.run(scenario);
    let mut record = simulation.record;
    if let Some((transitions, _subscription)) = watched {
        record.has_breaker = true;
        let mut transitions = transitions.lock().unwrap_or_else(PoisonError::into_inner);
        (record.transitions, record.untold) = std::mem::take(&mut *transitions);
    }
    Ok(record)
}

/// The first changes of state, and how many there were after those.
type Transitions = (Vec<Transition>, u64);

/// Takes note of the changes of state for as long as the subscription is kept.
fn watch(breaker: &CircuitBreaker) -> (Arc<Mutex<Transitions>>, Subscription) {
    let transitions = Arc::new(Mutex::new(Transitions::default()));
    let noted = Arc::clone(&transitions);
    let subscription = breaker.events().subscribe(move |event| {
        let CircuitBreakerEventKind::StateTransition { from, to, .. } = event.kind else { return };
        let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, further) = &mut *noted;
        if first.len() < MOST_TRANSITIONS {
            first.push(Transition { at: Duration::from_nanos(event.at), from, to });
        } else {
            *further += 1;
        }
    });
    (transitions, subscription)
}

struct Simulation {
    stack: Stack,
    breaker: Option<CircuitBreaker>,
    backend: Rc<Backend>,
    rules: Rc<Rules<(), Failed>>,
    clock: Clock,
    hand: ManualClock,
    executor: Executor<Call>,
    record: Record,
    /// The second that is not over yet.
    step: Step,
    /// How many calls had reached the backend when it began.
    reached: u64,
}

impl Simulation {
    /// Goes from each point in time at which something happens to the next.
    fn run(&mut self, scenario: &Scenario) {
        let end = nanos(scenario.duration);
        let mut arrivals = Arrivals::new(scenario);
        let mut arrival = arrivals.next();
        let mut boundary = SECOND.min(end);
        loop {
            let due = [self.hand.next_due(), arrival].into_iter().flatten().min();
            let next = due.map_or(boundary, |due| due.min(boundary));
            self.hand.advance(Duration::from_nanos(next.saturating_sub(self.clock.now())));
            self.run_woken();
            if arrival == Some(next) {
                self.start_call();
                arrival = arrivals.next();
            } else if next == boundary {
                self.close_step();
                if boundary == end {
                    break;
                }
                boundary = (boundary + SECOND).min(end);
            }
        }
        self.record.unfinished = self.executor.len();
    }

    fn run_woken(&mut self) {
        let step = &mut self.step;
        self.executor.run(|(outcome, latency)| step.end(&outcome, latency));
    }

    fn start_call(&mut self) {
        let (stack, rules) = (self.stack.clone(), Rc::clone(&self.rules));
        let (backend, clock) = (Rc::clone(&self.backend), self.clock.clone());
        let start = clock.now();
        self.step.arrived += 1;
        self.executor.spawn(async move {
            let outcome = stack.call_by(&rules, || Rc::clone(&backend).call()).await;
            (outcome, Duration::from_nanos(clock.now() - start))
        });
        self.run_woken();
    }

    fn close_step(&mut self) {
        let mut step = std::mem::take(&mut self.step);
        let reached = self.backend.reached();
        step.reached = reached - std::mem::replace(&mut self.reached, reached);
        if let Some(breaker) = &self.breaker {
            let rate = breaker.metrics().failure_rate;
            step.state = Some(breaker.state());
            step.failure_rate = (rate >= 0.0).then_some(rate);
        }
        step.close();
        self.record.steps.push(step);
    }
}
