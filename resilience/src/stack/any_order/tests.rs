//! The fixed order, on the fast path and off it: whatever happens, nobody can tell which it was.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use proptest::prelude::*;
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::{
    Bulkhead, BulkheadConfig, CallError, CircuitBreaker, CircuitBreakerConfig, ErrorKind,
    RateLimiter, RateLimiterConfig, Retry, RetryConfig, Rules, Stack, TimeLimiter,
    TimeLimiterConfig,
    events::{Event, Events},
};

#[derive(Debug, Clone)]
struct Declined;

impl ErrorKind for Declined {
    fn kinds(&self) -> &'static [&'static str] {
        &["declined"]
    }
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy)]
enum End {
    /// 0 is a failure, and asks for another attempt.
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
    /// The deadline that it is under.
    deadline: Option<u64>,
}

/// The settings that a case varies; a layer without is left out.
#[derive(Debug, Clone)]
struct Settings {
    attempts: Option<(u32, u64)>,
    breaker: Option<u32>,
    limit: Option<(u32, u64)>,
    time: Option<u64>,
    slots: Option<(u32, u64)>,
    /// Whether calls further down learn of the time; and what a retry's attempts may take together.
    deadline: bool,
    total: Option<u64>,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let end = prop_oneof![
        4 => (0..3u32).prop_map(End::Value),
        4 => Just(End::Error),
        1 => Just(End::Panic),
    ];
    let attempts = prop::collection::vec((0..40u64, end), 1..4);
    let dropped_after = prop_oneof![Just(1_000_000), 0..60u64];
    let call = (0..60u64, attempts, dropped_after, prop::option::of(0..60u64)).prop_map(
        |(starts, attempts, dropped_after, deadline)| Call {
            starts,
            attempts,
            dropped_after,
            deadline,
        },
    );
    prop::collection::vec(call, 1..8)
}

fn settings() -> impl Strategy<Value = Settings> {
    let attempts = prop::option::of((1..4u32, 0..15u64));
    let limit = prop::option::of((1..3u32, 0..40u64));
    let slots = prop::option::of((0..3u32, 0..40u64));
    let time = (prop::option::of(1..50u64), any::<bool>(), prop::option::of(1..60u64));
    (attempts, prop::option::of(1..4u32), limit, time, slots).prop_map(
        |(attempts, breaker, limit, (time, deadline, total), slots)| Settings {
            attempts,
            breaker,
            limit,
            time,
            slots,
            deadline,
            total,
        },
    )
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What happened, with the time of it.
#[derive(Clone)]
struct Log {
    start: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    fn note(&self, line: &str) {
        let at = self.start.elapsed().as_millis();
        self.lines.lock().expect("no panic within").push(format!("{at} {line}"));
    }

    fn listen<E: Event>(&self, events: &Events<E>) {
        let log = self.clone();
        events
            .subscribe(move |event| {
                log.note(&format!("{} {}", event.instance(), event.type_name()));
            })
            .forever();
    }
}

impl Settings {
    fn has_layers(&self) -> bool {
        self.attempts.is_some()
            || self.breaker.is_some()
            || self.limit.is_some()
            || self.time.is_some()
            || self.slots.is_some()
    }

    /// The stack, and what tells the metrics of its instances.
    fn stack(&self, log: &Log) -> (Stack, Box<dyn Fn() -> String>) {
        let mut builder = Stack::builder();
        let mut metrics: Vec<Box<dyn Fn() -> String>> = Vec::new();
        macro_rules! layer {
            ($method:ident, $instance:expr) => {{
                let instance = $instance;
                log.listen(&instance.events());
                builder = builder.$method(instance.clone());
                metrics.push(Box::new(move || format!("{:?}\n", instance.metrics())));
            }};
        }
        if let Some((attempts, wait)) = self.attempts {
            let config = RetryConfig::builder().max_attempts(attempts).wait_duration(millis(wait));
            let config = match self.total {
                Some(total) => config.total_timeout(millis(total)),
                None => config,
            };
            layer!(retry, Retry::new("retry", config.build().expect("in range")));
        }
        if let Some(window) = self.breaker {
            let config = CircuitBreakerConfig::builder()
                .sliding_window_size(window)
                .wait_duration_in_open_state(millis(20))
                .permitted_number_of_calls_in_half_open_state(1)
                .ignore_errors(["request_not_permitted"]);
            let config = config.build().expect("in range");
            layer!(circuit_breaker, CircuitBreaker::new("breaker", config));
        }
        if let Some((limit, timeout)) = self.limit {
            let config = RateLimiterConfig::builder()
                .limit_for_period(limit)
                .limit_refresh_period(millis(15))
                .timeout_duration(millis(timeout));
            let config = config.build().expect("in range");
            layer!(rate_limiter, RateLimiter::new("limiter", config));
        }
        if let Some(limit) = self.time {
            let config = TimeLimiterConfig::builder().timeout_duration(millis(limit));
            layer!(time_limiter, TimeLimiter::new("time", config.build().expect("in range")));
        }
        if let Some((slots, wait)) = self.slots {
            let config = BulkheadConfig::builder()
                .max_concurrent_calls(slots)
                .max_wait_duration(millis(wait));
            layer!(bulkhead, Bulkhead::new("bulkhead", config.build().expect("in range")));
        }
        let metrics = move || metrics.iter().map(|tell| tell()).collect();
        let builder = if self.deadline { builder.deadline() } else { builder };
        (builder.build(), Box::new(metrics))
    }
}

/// Makes the calls, each in a task of its own, and tells everything that can be seen.
async fn run(settings: &Settings, calls: &[Call], fast: bool) -> (Vec<String>, String) {
    let log = Log { start: Instant::now(), lines: Arc::default() };
    let (stack, metrics) = settings.stack(&log);
    let stack = if fast { stack } else { stack.off_the_fast_path() };
    assert_eq!(stack.fixed.is_some(), fast);
    let mut tasks = JoinSet::new();
    for (number, call) in calls.iter().cloned().enumerate() {
        let (log, stack) = (log.clone(), stack.clone());
        tasks.spawn(async move {
            tokio::time::sleep(millis(call.starts)).await;
            let rules = Rules::new()
                .kinds()
                .record_result(|value| *value == 0)
                .retry_result(|value| *value == 0);
            let mut attempts = call.attempts.iter().copied().cycle();
            let mut last_seen = Vec::new();
            let attempt = |last| {
                last_seen.push(last);
                let (lasts, end) = attempts.next().expect("a cycle");
                log.note(&format!("{number} runs under {:?}", crate::deadline()));
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
            };
            let call_limit = millis(call.dropped_after);
            let made = stack.run(&rules, attempt);
            let result: Result<Result<u32, CallError<Declined>>, _> = match call.deadline {
                None => timeout(call_limit, made).await,
                Some(left) => timeout(call_limit, crate::with_deadline(millis(left), made)).await,
            };
            log.note(&format!("{number} {result:?} {last_seen:?}"));
        });
    }
    while tasks.join_next().await.is_some() {}
    // The time of a later look must not differ either.
    tokio::time::sleep_until(log.start + Duration::from_secs(5)).await;
    let lines = std::mem::take(&mut *log.lines.lock().expect("no panic within"));
    (lines, metrics())
}

fn paused<R>(future: impl Future<Output = R>) -> R {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(future)
}

proptest! {
    #[test]
    fn off_the_fast_path_the_fixed_order_is_the_same(settings in settings(), calls in calls()) {
        prop_assume!(settings.has_layers(), "the call itself is always on the fast path");
        let [fast, slow] = [true, false].map(|fast| paused(run(&settings, &calls, fast)));
        prop_assert_eq!(fast, slow);
    }
}
