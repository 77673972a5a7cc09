//! Calls with arguments and typed fallbacks: a stack does what an annotated function does, event by
//! event.

#![allow(clippy::unwrap_used)] // helpers of tests

// The attributes ask for the signatures of fallbacks.
#![allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]

use std::{
    future::{Future, pending},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use resilience::{
    CallError, CallNotPermitted, Config, Error, ErrorKind, Resilience, Retry, RetryConfig, Rules,
    Stack, TimedOut,
    circuit_breaker::State,
    config::Format,
    events::{Event, Events},
    stack::Protected,
};

const CONFIG: &str = "
circuitbreaker.instances.x:
  { sliding_window_size: 3, minimum_number_of_calls: 3, ignore_errors: [declined] }
retry.instances.x: { max_attempts: 3, wait_duration: 100ms, ignore_errors: [declined] }
ratelimiter.instances.x: { limit_for_period: 10, limit_refresh_period: 1h }
timelimiter.instances.x: { timeout_duration: 1s }
bulkhead.instances.x: { max_concurrent_calls: 1 }
";

#[derive(Debug, Clone, PartialEq, thiserror::Error, ErrorKind)]
enum Failure {
    #[error("declined")]
    Declined,
    #[error("down")]
    Unreachable,
    #[error(transparent)]
    Refused(#[from] Error),
}

/// What one run saw, in the order in which it happened.
#[derive(Debug, Default)]
struct Trace {
    lines: Mutex<Vec<String>>,
    attempts: AtomicU32,
}

impl Trace {
    fn note(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }

    fn listen<E: Event>(self: &Arc<Self>, pattern: &'static str, events: &Events<E>) {
        let trace = Arc::clone(self);
        events
            .subscribe(move |event| trace.note(format!("{pattern} {}", event.type_name())))
            .forever();
    }
}

/// What happens to one call: what each of its attempts does, over and over.
#[derive(Debug, Clone, Copy)]
enum Script {
    Succeeds,
    SucceedsAtLast,
    Declines,
    CannotBeReached,
    Hangs,
}

type Arguments = (Arc<Trace>, Script);

async fn body((trace, script): Arguments) -> Result<u32, Failure> {
    trace.note("body");
    let attempt = trace.attempts.fetch_add(1, Ordering::Relaxed);
    match script {
        Script::Succeeds => Ok(1),
        Script::SucceedsAtLast if attempt % 3 == 2 => Ok(1),
        Script::Declines => Err(Failure::Declined),
        Script::CannotBeReached | Script::SucceedsAtLast => Err(Failure::Unreachable),
        Script::Hangs => pending().await,
    }
}

/// A registry, with a listener at every instance.
fn registry() -> (Resilience, Arc<Trace>) {
    let config = Config::builder().env(false).text(CONFIG, Format::Yaml).load().unwrap();
    let (registry, trace) = (Resilience::from_config(config).unwrap(), Arc::<Trace>::default());
    trace.listen("retry", &registry.retry("x").events());
    trace.listen("circuit_breaker", &registry.circuit_breaker("x").events());
    trace.listen("rate_limiter", &registry.rate_limiter("x").events());
    trace.listen("time_limiter", &registry.time_limiter("x").events());
    trace.listen("bulkhead", &registry.bulkhead("x").events());
    (registry, trace)
}

/// The calls of the stack that has the attributes' order.
fn calls(registry: &Resilience) -> Protected<u32, Failure> {
    registry
        .stack()
        .retry("x")
        .circuit_breaker("x")
        .rate_limiter("x")
        .time_limiter("x")
        .bulkhead("x")
        .build()
        .protect()
        .rules(Rules::new().kinds())
}

fn metrics(registry: &Resilience) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?}",
        registry.retry("x").metrics(),
        registry.circuit_breaker("x").metrics().totals,
        registry.rate_limiter("x").metrics().permitted,
        registry.time_limiter("x").metrics(),
        registry.bulkhead("x").metrics(),
    )
}

/// Runs every script twice, so that the breaker opens, and tells all that can be seen.
async fn run<F>(make: impl Fn(Resilience, Arguments) -> F) -> Vec<String>
where
    F: Future<Output = Result<u32, Failure>>,
{
    let mut seen = Vec::new();
    for script in [
        Script::Succeeds,
        Script::SucceedsAtLast,
        Script::Declines,
        Script::CannotBeReached,
        Script::Hangs,
    ] {
        let (registry, trace) = registry();
        for _ in 0..2 {
            let call = make(registry.clone(), (Arc::clone(&trace), script));
            let result = registry.scope(call).await;
            trace.note(format!("{script:?} {result:?}"));
        }
        seen.append(&mut trace.lines.lock().unwrap());
        seen.push(metrics(&registry));
    }
    seen
}

fn everything((trace, _): Arguments, error: CallError<Failure>) -> Result<u32, Failure> {
    trace.note(format!("everything: {error}"));
    Ok(100)
}

async fn refusals((trace, _): Arguments, error: Error) -> Result<u32, Failure> {
    tokio::task::yield_now().await;
    trace.note(format!("refusal: {error}"));
    Err(error.into())
}

fn business((trace, _): Arguments, error: Failure) -> Result<u32, Failure> {
    trace.note(format!("business: {error}"));
    Ok(102)
}

async fn open_alone(_open: CallNotPermitted) -> Result<u32, Failure> {
    Ok(103)
}

fn timeout_alone(_timeout: TimedOut) -> Result<u32, Failure> {
    Ok(104)
}

macro_rules! the_same_by_attribute_and_by_stack {
    ($($test:ident: $($fallback:ident),*;)*) => {$(
        #[tokio::test(start_paused = true)]
        async fn $test() {
            #[resilience::retry(name = "x", fallback = [$($fallback),*])]
            #[resilience::circuit_breaker(name = "x")]
            #[resilience::rate_limiter(name = "x")]
            #[resilience::time_limiter(name = "x")]
            #[resilience::bulkhead(name = "x")]
            async fn annotated(arguments: Arguments) -> Result<u32, Failure> {
                body(arguments).await
            }

            let by_attribute = run(|_, arguments| annotated(arguments)).await;
            let by_stack = run(async |registry, arguments| {
                let calls = calls(&registry)$(.fallback($fallback))*;
                calls.call_with(arguments, body).await.map_err(CallError::into_error)
            })
            .await;
            assert_eq!(by_attribute, by_stack);
        }
    )*};
}

the_same_by_attribute_and_by_stack! {
    a_fallback_for_everything_is_the_same_by_attribute_and_by_stack: everything;
    a_fallback_for_refusals_is_the_same_by_attribute_and_by_stack: refusals;
    a_fallback_for_business_errors_is_the_same_by_attribute_and_by_stack: business;
    a_fallback_for_one_refusal_is_the_same_by_attribute_and_by_stack: open_alone;
    the_first_fallback_that_fits_is_the_same_by_attribute_and_by_stack: timeout_alone, open_alone, business;
}

/// A value that counts its clones.
#[derive(Debug, Default)]
struct Card(Arc<AtomicU32>);

impl Clone for Card {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

/// How often calls that fail clone their argument in stacks with these attempts, outermost first.
async fn clones<F>(attempts: &[u32], call: impl AsyncFn(Stack, Card) -> F) -> u32 {
    let stack = attempts.iter().fold(Stack::builder(), |builder, attempts| {
        let config = RetryConfig::builder().max_attempts(*attempts).build().unwrap();
        builder.retry(Retry::new("r", config))
    });
    let card = Card::default();
    let count = Arc::clone(&card.0);
    call(stack.build(), card).await;
    count.load(Ordering::Relaxed)
}

async fn fails(_card: Card) -> Result<u32, Failure> {
    Err(Failure::Unreachable)
}

#[tokio::test(start_paused = true)]
async fn arguments_are_cloned_for_every_attempt_but_the_last_possible_one() {
    let call = async |stack: Stack, card| stack.call_with(card, fails).await.unwrap_err();
    assert_eq!(clones(&[], call).await, 0);
    assert_eq!(clones(&[1], call).await, 0);
    assert_eq!(clones(&[3], call).await, 2);
    assert_eq!(clones(&[2, 3], call).await, 5, "the last attempt of the last attempt");
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_takes_the_error_alone_clones_no_argument() {
    let calls = async |stack: Stack, card| {
        let calls = stack.protect::<u32, Failure>().fallback(|_: CallError<Failure>| Ok(7));
        assert_eq!(calls.call_with(card, fails).await, Ok(7));
    };
    assert_eq!(clones(&[], calls).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_takes_the_arguments_gets_the_very_ones() {
    let calls = async |stack: Stack, card| {
        let fallback = |_: Card, _: CallError<Failure>| Ok(7);
        let calls = stack.protect::<u32, Failure>().fallback(fallback);
        assert_eq!(calls.call_with(card, fails).await, Ok(7));
    };
    assert_eq!(clones(&[2], calls).await, 2);
}

#[tokio::test]
async fn where_the_error_type_is_the_librarys_a_fallback_for_it_handles_refusals_of_this_stack() {
    let (registry, _trace) = registry();
    let stack = registry.stack().circuit_breaker("x").build();
    let calls = stack.protect::<u32, Error>().fallback(|_: Error| Ok(7));

    let breaker = Resilience::from_config(Config::default()).unwrap().circuit_breaker("other");
    breaker.transition_to(State::ForcedOpen).unwrap();
    let inner = breaker.try_acquire().unwrap_err();
    let fails = || async { Err(Error::from(inner.clone())) };
    assert_eq!(calls.call(fails).await, Err(CallError::Inner(inner.clone().into())));

    registry.circuit_breaker("x").transition_to(State::ForcedOpen).unwrap();
    assert_eq!(calls.call(fails).await, Ok(7));
}

#[tokio::test]
async fn the_future_of_a_call_with_a_fallback_is_send_though_error_and_value_are_not() {
    fn assert_send<F: Send>(future: F) -> F {
        future
    }
    type Local = std::rc::Rc<str>;
    let calls = Stack::builder()
        .retry(Retry::new("r", RetryConfig::builder().max_attempts(1).build().unwrap()))
        .retry(Retry::new("r", RetryConfig::builder().max_attempts(1).build().unwrap()))
        .build()
        .protect::<Local, Local>()
        .fallback(|_: Local| async { Ok(Local::from("stale")) });
    let future = assert_send(calls.call(|| async { Err("down".into()) }));
    assert_eq!(future.await, Ok("stale".into()));
}
