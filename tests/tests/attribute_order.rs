//! The order of the layers is fixed: all 120 textual orders of the five attributes act alike.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::{
    collections::HashSet,
    future::{Future, pending},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use resilience::{
    Config, Error, Resilience,
    config::Format,
    events::{Event, Events},
};

const CONFIG: &str = "
circuitbreaker.instances.order: { sliding_window_size: 3, minimum_number_of_calls: 3 }
retry.instances.order: { max_attempts: 5, wait_duration: 100ms }
ratelimiter.instances.order: { limit_for_period: 10, limit_refresh_period: 1h }
timelimiter.instances.order: { timeout_duration: 1s }
bulkhead.instances.order: { max_concurrent_calls: 1 }
";

/// What one run saw, in the order in which it happened.
#[derive(Debug, Default)]
struct Trace {
    lines: Mutex<Vec<String>>,
    calls: AtomicU32,
}

impl Trace {
    fn note(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    fn listen<E: Event + 'static>(self: &Arc<Self>, pattern: &'static str, events: &Events<E>) {
        let trace = Arc::clone(self);
        events
            .subscribe(move |event| trace.note(format!("{pattern} {}", event.type_name())))
            .forever();
    }

    /// Fails, then hangs, then fails until the breaker is open.
    async fn body(&self) -> Result<u32, Failure> {
        self.note("body".to_owned());
        match self.calls.fetch_add(1, Ordering::Relaxed) {
            1 => pending().await,
            _ => Err(Failure::Business),
        }
    }
}

type Run = fn(Arc<Trace>) -> Pin<Box<dyn Future<Output = Result<u32, Failure>>>>;

#[derive(Debug)]
enum Failure {
    Refused(Error),
    Business,
}

impl From<Error> for Failure {
    fn from(refused: Error) -> Self {
        Self::Refused(refused)
    }
}

macro_rules! every_order {
    (@choose $runs:ident [$($done:ident)*] [$($before:ident)*]) => {};
    (@choose $runs:ident [$($done:ident)*] [$($before:ident)*] $next:ident $($after:ident)*) => {
        every_order!($runs [$($done)* $next] $($before)* $($after)*);
        every_order!(@choose $runs [$($done)*] [$($before)* $next] $($after)*);
    };
    ($runs:ident [$($done:ident)*]) => {{
        $(#[resilience::$done(name = "order")])*
        async fn call(trace: Arc<Trace>) -> Result<u32, Failure> {
            trace.body().await
        }
        let run: Run = |trace| Box::pin(call(trace));
        $runs.push((stringify!($($done)*), run));
    }};
    ($runs:ident [$($done:ident)*] $($rest:ident)+) => {
        every_order!(@choose $runs [$($done)*] [] $($rest)+);
    };
}

async fn trace(run: Run) -> Vec<String> {
    let config = Config::builder().env(false).text(CONFIG, Format::Yaml).load().unwrap();
    let registry = Resilience::from_config(config).unwrap();
    let trace = Arc::new(Trace::default());
    trace.listen("retry", &registry.retry("order").events());
    trace.listen("circuit_breaker", &registry.circuit_breaker("order").events());
    trace.listen("rate_limiter", &registry.rate_limiter("order").events());
    trace.listen("time_limiter", &registry.time_limiter("order").events());
    trace.listen("bulkhead", &registry.bulkhead("order").events());
    let result = registry.scope(run(Arc::clone(&trace))).await;
    assert!(matches!(result, Err(Failure::Refused(Error::CallNotPermitted(_)))), "{result:?}");
    std::mem::take(&mut *trace.lines.lock().unwrap())
}

#[tokio::test(start_paused = true)]
async fn l01_all_120_textual_orders_give_the_trace_of_the_fixed_order() {
    let mut runs: Vec<(&str, Run)> = Vec::new();
    every_order!(runs [] retry circuit_breaker rate_limiter time_limiter bulkhead);
    let orders: HashSet<&str> = runs.iter().map(|(order, _)| *order).collect();
    assert_eq!(orders.len(), 120);

    for (order, run) in runs {
        let seen = trace(run).await;
        assert_eq!(seen, EXPECTED, "{order}");
    }
}

const EXPECTED: &[&str] = &[
    // The first attempt fails.
    "rate_limiter SUCCESSFUL_ACQUIRE",
    "bulkhead CALL_PERMITTED",
    "body",
    "bulkhead CALL_FINISHED",
    "time_limiter ERROR",
    "circuit_breaker ERROR",
    "retry RETRY",
    // The second hangs; its body is dropped before its slot is given back.
    "rate_limiter SUCCESSFUL_ACQUIRE",
    "bulkhead CALL_PERMITTED",
    "body",
    "time_limiter TIMEOUT",
    "bulkhead CALL_FINISHED",
    "circuit_breaker ERROR",
    "retry RETRY",
    // The third fails and opens the breaker.
    "rate_limiter SUCCESSFUL_ACQUIRE",
    "bulkhead CALL_PERMITTED",
    "body",
    "bulkhead CALL_FINISHED",
    "time_limiter ERROR",
    "circuit_breaker ERROR",
    "circuit_breaker FAILURE_RATE_EXCEEDED",
    "circuit_breaker STATE_TRANSITION",
    "retry RETRY",
    // The fourth is refused further out than the rate limiter, and retry ends.
    "circuit_breaker NOT_PERMITTED",
    "retry IGNORED_ERROR",
];
