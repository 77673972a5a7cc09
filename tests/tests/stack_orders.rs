//! Stacks in any order: each does what the instances' own `call`s do when they are nested by hand, and
//! gives everything back when it is dropped or the body panics.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use proptest::prelude::*;
use resilience::{
    Bulkhead, BulkheadConfig, CallError, CircuitBreaker, CircuitBreakerConfig, ErrorKind,
    RateLimiter, RateLimiterConfig, Retry, RetryConfig, Rules, Stack, TimeLimiter,
    TimeLimiterConfig,
    circuit_breaker::State,
    events::{Event, Events},
};
use tokio::{task::JoinSet, time::Instant};

#[derive(Debug, Clone, PartialEq)]
struct Declined;

impl ErrorKind for Declined {
    fn kinds(&self) -> &'static [&'static str] {
        &["declined"]
    }
}

type Outcome = Result<u32, CallError<Declined>>;

/// A future that the nesting by hand needs to name.
type Boxed = Pin<Box<dyn Future<Output = Outcome> + Send>>;

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// One layer of a random stack, and the settings that matter.
#[derive(Debug, Clone, Copy)]
enum Plan {
    Retry { attempts: u32, wait: u64 },
    CircuitBreaker { window: u32 },
    RateLimiter { limit: u32, timeout: u64 },
    TimeLimiter { limit: u64 },
    Bulkhead { slots: u32, wait: u64 },
}

#[derive(Debug, Clone)]
enum Layer {
    Retry(Retry),
    CircuitBreaker(CircuitBreaker),
    RateLimiter(RateLimiter),
    TimeLimiter(TimeLimiter),
    Bulkhead(Bulkhead),
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let plan = prop_oneof![
        (1..4u32, 0..15u64).prop_map(|(attempts, wait)| Plan::Retry { attempts, wait }),
        (1..4u32).prop_map(|window| Plan::CircuitBreaker { window }),
        (1..3u32, 0..40u64).prop_map(|(limit, timeout)| Plan::RateLimiter { limit, timeout }),
        (1..60u64).prop_map(|limit| Plan::TimeLimiter { limit }),
        (0..3u32, 0..40u64).prop_map(|(slots, wait)| Plan::Bulkhead { slots, wait }),
    ];
    prop::collection::vec(plan, 0..=8)
}

impl Plan {
    fn layer(self, place: usize) -> Layer {
        let name = format!("{place}");
        match self {
            Plan::Retry { attempts, wait } => {
                // Without a wait a refusal must not bring one.
                let asked = if wait == 0 { Duration::ZERO } else { Duration::from_secs(1) };
                let config = RetryConfig::builder()
                    .max_attempts(attempts)
                    .wait_duration(millis(wait))
                    .retry_after_max(asked);
                Layer::Retry(Retry::new(name, config.build().expect("in range")))
            }
            Plan::CircuitBreaker { window } => {
                let config = CircuitBreakerConfig::builder()
                    .sliding_window_size(window)
                    .wait_duration_in_open_state(millis(20))
                    .permitted_number_of_calls_in_half_open_state(1)
                    .ignore_errors(["request_not_permitted"]);
                let config = config.build().expect("in range");
                Layer::CircuitBreaker(CircuitBreaker::new(name, config))
            }
            Plan::RateLimiter { limit, timeout } => {
                let config = RateLimiterConfig::builder()
                    .limit_for_period(limit)
                    .limit_refresh_period(millis(15))
                    .timeout_duration(millis(timeout));
                Layer::RateLimiter(RateLimiter::new(name, config.build().expect("in range")))
            }
            Plan::TimeLimiter { limit } => {
                let config = TimeLimiterConfig::builder().timeout_duration(millis(limit));
                Layer::TimeLimiter(TimeLimiter::new(name, config.build().expect("in range")))
            }
            Plan::Bulkhead { slots, wait } => {
                let config = BulkheadConfig::builder()
                    .max_concurrent_calls(slots)
                    .max_wait_duration(millis(wait));
                Layer::Bulkhead(Bulkhead::new(name, config.build().expect("in range")))
            }
        }
    }
}

fn layers(plans: &[Plan]) -> Vec<Layer> {
    plans.iter().enumerate().map(|(place, plan)| plan.layer(place)).collect()
}

fn stack(layers: &[Layer]) -> Stack {
    let add = |builder: resilience::StackBuilder, layer: &Layer| match layer {
        Layer::Retry(retry) => builder.retry(retry.clone()),
        Layer::CircuitBreaker(breaker) => builder.circuit_breaker(breaker.clone()),
        Layer::RateLimiter(limiter) => builder.rate_limiter(limiter.clone()),
        Layer::TimeLimiter(limiter) => builder.time_limiter(limiter.clone()),
        Layer::Bulkhead(bulkhead) => builder.bulkhead(bulkhead.clone()),
    };
    layers.iter().fold(Stack::builder(), add).build()
}

/// 0 is a failure and asks for another attempt.
fn rules<E: ErrorKind>() -> Rules<u32, E> {
    Rules::new().kinds().record_result(|value| *value == 0).retry_result(|value| *value == 0)
}

/// The layers around `body`, by nothing but their own `call`s.
fn nested(layers: &[Layer], body: Arc<dyn Fn() -> Boxed + Send + Sync>) -> Boxed {
    let Some((layer, inner)) = layers.split_first() else {
        return Box::pin(async move { body().await });
    };
    let (layer, inner) = (layer.clone(), inner.to_vec());
    Box::pin(async move {
        let within = move || nested(&inner, Arc::clone(&body));
        let outcome = match layer {
            Layer::Retry(retry) => retry.call_by(&rules(), within).await,
            Layer::CircuitBreaker(breaker) => breaker.call_by(&rules(), within()).await,
            Layer::RateLimiter(limiter) => limiter.call(within()).await,
            Layer::TimeLimiter(limiter) => limiter.call(within()).await,
            Layer::Bulkhead(bulkhead) => bulkhead.call(within()).await,
        };
        outcome.map_err(|error| match error {
            CallError::Inner(inner) => inner,
            CallError::Resilience(refusal) => CallError::Resilience(refusal),
        })
    })
}

/// What happened, with the time of it.
#[derive(Clone)]
struct Log {
    start: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    fn new() -> Self {
        Self { start: Instant::now(), lines: Arc::default() }
    }

    fn note(&self, line: &str) {
        let at = self.start.elapsed().as_millis();
        self.lines.lock().expect("no panic within").push(format!("{at} {line}"));
    }

    fn listen<E: Event>(&self, events: &Events<E>) {
        let log = self.clone();
        let note =
            move |event: &E| log.note(&format!("{} {}", event.instance(), event.type_name()));
        events.subscribe(note).forever();
    }

    fn listen_to(&self, layer: &Layer) {
        match layer {
            Layer::Retry(retry) => self.listen(&retry.events()),
            Layer::CircuitBreaker(breaker) => self.listen(&breaker.events()),
            Layer::RateLimiter(limiter) => self.listen(&limiter.events()),
            Layer::TimeLimiter(limiter) => self.listen(&limiter.events()),
            Layer::Bulkhead(bulkhead) => self.listen(&bulkhead.events()),
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().expect("no panic within"))
    }
}

fn metrics(layer: &Layer) -> String {
    match layer {
        Layer::Retry(retry) => format!("{:?}", retry.metrics()),
        Layer::CircuitBreaker(breaker) => format!("{:?}", breaker.metrics()),
        Layer::RateLimiter(limiter) => format!("{:?}", limiter.metrics()),
        Layer::TimeLimiter(limiter) => format!("{:?}", limiter.metrics()),
        Layer::Bulkhead(bulkhead) => format!("{:?}", bulkhead.metrics()),
    }
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Value(u32),
    Error,
    Panic,
}

/// One call: when it starts, what its attempts do, and when its caller gives up.
#[derive(Debug, Clone)]
struct Call {
    starts: u64,
    attempts: Vec<(u64, End)>,
    dropped_after: u64,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let end = prop_oneof![
        4 => (0..3u32).prop_map(End::Value),
        4 => Just(End::Error),
        1 => Just(End::Panic),
    ];
    let attempts = prop::collection::vec((0..40u64, end), 1..4);
    let dropped_after = prop_oneof![Just(1_000_000), 0..60u64];
    let call = (0..60u64, attempts, dropped_after)
        .prop_map(|(starts, attempts, dropped_after)| Call { starts, attempts, dropped_after });
    prop::collection::vec(call, 1..6)
}

/// Makes the calls, each in a task of its own, and tells everything that can be seen.
async fn run(plans: &[Plan], calls: &[Call], by_hand: bool) -> (Vec<String>, Vec<String>) {
    let log = Log::new();
    let layers = layers(plans);
    for layer in &layers {
        log.listen_to(layer);
    }
    let mut tasks = JoinSet::new();
    for (number, call) in calls.iter().cloned().enumerate() {
        let (log, layers) = (log.clone(), layers.clone());
        tasks.spawn(async move {
            tokio::time::sleep(millis(call.starts)).await;
            let attempt = {
                let (log, next, attempts) = (log.clone(), AtomicUsize::new(0), call.attempts);
                move || {
                    log.note(&format!("{number} runs"));
                    let next = next.fetch_add(1, Ordering::Relaxed);
                    let (lasts, end) = attempts[next % attempts.len()];
                    async move {
                        if lasts > 0 {
                            tokio::time::sleep(millis(lasts)).await;
                        }
                        match end {
                            End::Value(value) => Ok(value),
                            End::Error => Err(Declined),
                            End::Panic => panic!("the body panics"),
                        }
                    }
                }
            };
            let made: Boxed = if by_hand {
                let attempt = move || -> Boxed {
                    let body = attempt();
                    Box::pin(async move { body.await.map_err(CallError::Inner) })
                };
                nested(&layers, Arc::new(attempt))
            } else {
                let stack = stack(&layers);
                Box::pin(async move { stack.call_by(&rules(), attempt).await })
            };
            let result = tokio::time::timeout(millis(call.dropped_after), made).await;
            log.note(&format!("{number} {result:?}"));
        });
    }
    while tasks.join_next().await.is_some() {}
    // The time of a later look must not differ either.
    tokio::time::sleep_until(log.start + Duration::from_secs(5)).await;
    (log.take(), layers.iter().map(metrics).collect())
}

/// Makes calls that never have to wait, by blocking or by async ones that must come to the same.
fn run_at_once(plans: &[Plan], ends: &[End], blocking: bool) -> (Vec<String>, Vec<String>) {
    let log = Log::new();
    let layers = layers(plans);
    for layer in &layers {
        log.listen_to(layer);
    }
    let stack = stack(&layers);
    for _ in 0..4 {
        let mut ends = ends.iter().cycle();
        let mut attempt = || {
            log.note("runs");
            match ends.next().expect("a cycle") {
                End::Value(value) => Ok(*value),
                End::Error => Err(Declined),
                End::Panic => panic!("the body panics"),
            }
        };
        let result = catch_unwind(AssertUnwindSafe(|| {
            if blocking {
                return stack.call_blocking_by(&rules(), attempt);
            }
            let rules = rules();
            let call = stack.call_by(&rules, || std::future::ready(attempt()));
            // Attempts without a wait use up the budget of this one task, in which all calls are made.
            match poll_once(pin!(tokio::task::unconstrained(call))) {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => panic!("a call had to wait"),
            }
        }));
        log.note(&format!("{:?}", result.ok()));
    }
    (log.take(), layers.iter().map(metrics).collect())
}

fn paused<R>(future: impl Future<Output = R>) -> R {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(future)
}

/// A body that is pending four times and then fails, or panics at a poll.
#[derive(Debug)]
struct Body {
    polls: u32,
    panic_at: Option<u32>,
}

impl Future for Body {
    type Output = Result<u32, Declined>;

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert_ne!(Some(self.polls), self.panic_at, "the body panics");
        self.polls += 1;
        if self.polls > 4 { Poll::Ready(Err(Declined)) } else { Poll::Pending }
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn assert_idle(layers: &[Layer]) {
    for layer in layers {
        match layer {
            Layer::CircuitBreaker(breaker) if breaker.state() == State::HalfOpen => {
                assert!(breaker.try_acquire().is_ok(), "{breaker:?} has its probe back");
            }
            Layer::RateLimiter(limiter) => assert_eq!(limiter.waiting(), 0, "{limiter:?}"),
            Layer::Bulkhead(bulkhead) => {
                assert_eq!(bulkhead.waiting(), 0, "{bulkhead:?}");
                let max = bulkhead.max_concurrent_calls();
                assert_eq!(bulkhead.available_concurrent_calls(), max, "{bulkhead:?}");
            }
            _ => {}
        }
    }
}

/// Fresh layers, whose breakers let one probe through.
fn probing(plans: &[Plan]) -> Vec<Layer> {
    let layers = layers(plans);
    for layer in &layers {
        if let Layer::CircuitBreaker(breaker) = layer {
            breaker.transition_to(State::Open).expect("from closed");
            breaker.transition_to(State::HalfOpen).expect("from open");
        }
    }
    layers
}

/// The same without time limits and waits.
fn at_once(plan: Plan) -> Option<Plan> {
    Some(match plan {
        Plan::Retry { attempts, .. } => Plan::Retry { attempts, wait: 0 },
        Plan::RateLimiter { limit, .. } => Plan::RateLimiter { limit, timeout: 0 },
        Plan::Bulkhead { slots, .. } => Plan::Bulkhead { slots, wait: 0 },
        Plan::TimeLimiter { .. } => return None,
        plan @ Plan::CircuitBreaker { .. } => plan,
    })
}

fn assert_blocking_does_what_async_does(plans: &[Plan], ends: &[End]) {
    let [blocking, polled] =
        [true, false].map(|blocking| paused(async { run_at_once(plans, ends, blocking) }));
    assert_eq!(blocking, polled);
}

/// More attempts than a task may make in one turn; found by the random test below.
#[test]
fn a_blocking_stack_does_what_the_async_one_does_for_very_many_attempts() {
    let plans = [Plan::Retry { attempts: 3, wait: 0 }; 5];
    assert_blocking_does_what_async_does(&plans, &[End::Error]);
}

proptest! {
    #[test]
    fn a_blocking_stack_does_what_the_async_one_does(plans in plans(), calls in calls()) {
        let plans: Vec<Plan> = plans.into_iter().filter_map(at_once).collect();
        let ends: Vec<End> = calls[0].attempts.iter().map(|(_, end)| *end).collect();
        assert_blocking_does_what_async_does(&plans, &ends);
    }

    #[test]
    fn a_stack_does_in_any_order_what_nested_calls_do(plans in plans(), calls in calls()) {
        let [by_hand, stacked] =
            [true, false].map(|by_hand| paused(run(&plans, &calls, by_hand)));
        prop_assert_eq!(by_hand, stacked);
    }

}

proptest! {
    // Each case goes through all polls.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn l05_a_call_dropped_at_any_poll_leaves_every_gauge_idle_in_any_order(plans in plans()) {
        paused(async {
            for polls in 0..24 {
                let layers = probing(&plans);
                {
                    let stack = stack(&layers);
                    let mut call = pin!(stack.call(|| Body { polls: 0, panic_at: None }));
                    for _ in 0..polls {
                        if poll_once(call.as_mut()).is_ready() {
                            break;
                        }
                        tokio::time::advance(millis(3)).await;
                    }
                }
                assert_idle(&layers);
            }
        });
    }

    #[test]
    fn l06_a_panic_at_any_poll_leaves_every_gauge_idle_in_any_order(plans in plans()) {
        paused(async {
            for panic_at in 0..5 {
                let layers = probing(&plans);
                let stack = stack(&layers);
                let body = || Body { polls: 0, panic_at: Some(panic_at) };
                let mut call = Box::pin(stack.call(body));
                let panicked = loop {
                    match catch_unwind(AssertUnwindSafe(|| poll_once(call.as_mut()))) {
                        Ok(Poll::Pending) => tokio::time::advance(millis(3)).await,
                        Ok(Poll::Ready(_)) => break false,
                        Err(_) => break true,
                    }
                };
                drop(call);
                assert_idle(&layers);
                if panicked {
                    for layer in &layers {
                        if let Layer::CircuitBreaker(breaker) = layer {
                            let failed = breaker.metrics().totals.failed;
                            assert!(failed > 0, "a panic is a failure: {breaker:?}");
                        }
                    }
                }
            }
        });
    }
}
