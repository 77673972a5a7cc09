//! What a subscriber of `tracing` sees of protected calls.

#![allow(clippy::unwrap_used)] // helpers of tests

#[allow(dead_code)] // the library's own tests use more of it
#[path = "../../resilience/src/test_support/capture.rs"]
mod capture;

use std::{
    future::{Future, pending},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Duration,
};

use capture::{Capture, SeenSpan};
use resilience::{
    Bulkhead, BulkheadConfig, CallError, CircuitBreaker, CircuitBreakerConfig, Config, Error,
    RateLimiter, RateLimiterConfig, Resilience, Retry, RetryConfig, Stack, ThreadPoolBulkhead,
    ThreadPoolBulkheadConfig, TimeLimiter, TimeLimiterConfig, bulkhead, circuit_breaker,
    circuit_breaker::State,
    config::Format,
    rate_limiter, retry, time_limiter,
    tower::{
        BulkheadLayer, CircuitBreakerLayer, RateLimiterLayer, RetryLayer, StackLayer,
        TimeLimiterLayer,
    },
    with_deadline,
};
use tower::{Layer as _, ServiceExt, service_fn};

const SETTINGS: &str = "
retry: { instances: { all: { wait_duration: 1ms, max_attempts: 2 } } }
circuit_breaker: { instances: { all: {} } }
rate_limiter: { instances: { all: { limit_for_period: 1000, limit_refresh_period: 1h, timeout_duration: 0s } } }
time_limiter: { instances: { all: { timeout_duration: 10ms } } }
bulkhead: { instances: { all: { max_concurrent_calls: 2, max_wait_duration: 0s } } }
";

fn registry() -> Resilience {
    let config = Config::builder().env(false).text(SETTINGS, Format::Yaml).load().unwrap();
    Resilience::from_config(config).unwrap()
}

#[derive(Debug, Clone, PartialEq, thiserror::Error, resilience::ErrorKind)]
enum Failure {
    #[error("secret text")]
    Down,
    #[error(transparent)]
    Refused(#[from] Error),
}

/// What the body of a call does.
#[derive(Debug, Clone, Copy)]
enum Body {
    Succeeds,
    Fails,
    Panics,
    Hangs,
}

async fn run(body: Body) -> Result<u32, Failure> {
    tracing::info!("in the body");
    tokio::task::yield_now().await;
    match body {
        Body::Succeeds => Ok(7),
        Body::Fails => Err(Failure::Down),
        Body::Panics => panic!("in the body"),
        Body::Hangs => pending().await,
    }
}

#[retry(name = "all")]
#[circuit_breaker(name = "all")]
#[rate_limiter(name = "all")]
#[time_limiter(name = "all")]
#[bulkhead(name = "all")]
async fn annotated(body: Body) -> Result<u32, Failure> {
    run(body).await
}

/// One way in which calls go through all five layers.
#[derive(Debug, Clone, Copy)]
enum Way {
    Attributes,
    Stack,
    AnyOrder,
    Tower,
}

const WAYS: [Way; 4] = [Way::Attributes, Way::Stack, Way::AnyOrder, Way::Tower];

impl Way {
    async fn call(self, registry: &Resilience, body: Body) {
        let stack = registry.stack();
        let fixed = || {
            let stack = registry.stack().retry("all").circuit_breaker("all").rate_limiter("all");
            stack.time_limiter("all").bulkhead("all").build()
        };
        match self {
            Way::Attributes => drop(registry.scope(annotated(body)).await),
            Way::Stack => drop(fixed().call(|| run(body)).await),
            Way::AnyOrder => {
                let stack = stack.bulkhead("all").retry("all").circuit_breaker("all");
                let stack = stack.rate_limiter("all").time_limiter("all").build();
                drop(stack.call(|| run(body)).await);
            }
            Way::Tower => {
                let service = StackLayer::new(fixed()).layer(service_fn(run));
                drop(service.oneshot(body).await);
            }
        }
    }
}

fn calls(capture: &Capture) -> Vec<SeenSpan> {
    capture.spans().into_iter().filter(|span| span.name == "protected_call").collect()
}

/// Attempts, outcome and who refused.
fn told(span: &SeenSpan) -> [String; 3] {
    assert!(span.is_closed, "{span:?}");
    ["attempts", "outcome", "refused_by"].map(|field| span.fields.get(field).to_owned())
}

fn the_call(capture: &Capture) -> [String; 3] {
    let spans = calls(capture);
    assert_eq!(spans.len(), 1, "{spans:?}");
    told(&spans[0])
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test(start_paused = true)]
async fn a_call_has_one_span_that_tells_layers_attempts_and_outcome_but_no_text() {
    for way in WAYS {
        for (body, end) in [
            (Body::Succeeds, ["1", "success", ""]),
            (Body::Fails, ["2", "failure", ""]),
            (Body::Hangs, ["2", "timeout", "time_limiter"]),
        ] {
            let (capture, _guard) = Capture::start();
            way.call(&registry(), body).await;
            assert_eq!(the_call(&capture), end, "{way:?} {body:?}");
            let fields = &calls(&capture)[0].fields;
            for layer in ["retry", "circuit_breaker", "rate_limiter", "time_limiter", "bulkhead"] {
                assert_eq!(fields.get(layer), "all", "{way:?} {layer}");
            }
            assert!(!format!("{:?}{:?}", capture.spans(), capture.logs()).contains("secret"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_tells_which_layer_refused() {
    type Refuse = fn(&Resilience);
    let refusals: [(&str, Refuse); 3] = [
        ("circuit_breaker", |registry| {
            registry.circuit_breaker("all").transition_to(State::ForcedOpen).unwrap();
        }),
        ("rate_limiter", |registry| {
            registry.rate_limiter("all").try_acquire(1000).unwrap();
        }),
        ("bulkhead", |registry| registry.bulkhead("all").change_max_concurrent_calls(0)),
    ];
    for way in WAYS {
        for (layer, refuse) in refusals {
            let (registry, (capture, _guard)) = (registry(), Capture::start());
            refuse(&registry);
            way.call(&registry, Body::Succeeds).await;
            let [_, outcome, refused_by] = the_call(&capture);
            assert_eq!([&*outcome, &*refused_by], ["refused", layer], "{way:?}");
            let logs = capture.logs();
            let refusal = logs.iter().find(|log| log.fields.get("refused_by") == layer).unwrap();
            assert_eq!(refusal.span, Some("protected_call"), "{way:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_over_is_told() {
    for way in WAYS {
        let (registry, (capture, _guard)) = (registry(), Capture::start());
        with_deadline(Duration::from_millis(1), way.call(&registry, Body::Hangs)).await;
        let [_, outcome, refused_by] = the_call(&capture);
        assert_eq!([&*outcome, &*refused_by], ["timeout", "deadline"], "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_body_panics_tells_so() {
    for way in WAYS {
        let (registry, (capture, _guard)) = (registry(), Capture::start());
        let mut call = pin!(way.call(&registry, Body::Panics));
        let mut polled = || catch_unwind(AssertUnwindSafe(|| poll(call.as_mut())));
        while polled().is_ok() {}
        assert_eq!(the_call(&capture), ["1", "panic", ""], "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_at_any_await_is_cancelled() {
    for way in WAYS {
        for polls in 1..4 {
            let (registry, (capture, _guard)) = (registry(), Capture::start());
            {
                let mut call = pin!(way.call(&registry, Body::Hangs));
                for _ in 0..polls {
                    assert!(poll(call.as_mut()).is_pending());
                }
            }
            assert_eq!(the_call(&capture), ["1", "cancelled", ""], "{way:?} {polls}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_while_it_waits_for_its_layers_is_cancelled() {
    let waits = SETTINGS.replace("timeout_duration: 0s", "timeout_duration: 1h");
    let waits = waits.replace("max_wait_duration: 0s", "max_wait_duration: 1h");
    let waits = waits.replace("wait_duration: 1ms", "wait_duration: 1h");
    let config = || Config::builder().env(false).text(&waits, Format::Yaml).load().unwrap();
    for way in WAYS {
        for (layer, attempts) in [("rate_limiter", "1"), ("bulkhead", "1"), ("retry", "2")] {
            let registry = Resilience::from_config(config()).unwrap();
            let bulkhead = registry.bulkhead("all");
            let held = (layer == "bulkhead")
                .then(|| [bulkhead.try_acquire().unwrap(), bulkhead.try_acquire().unwrap()]);
            if layer == "rate_limiter" {
                registry.rate_limiter("all").try_acquire(1000).unwrap();
            }
            let (capture, _guard) = Capture::start();
            {
                let mut call = pin!(way.call(&registry, Body::Fails));
                for _ in 0..3 {
                    assert!(poll(call.as_mut()).is_pending(), "{way:?} {layer}");
                }
            }
            drop(held);
            assert_eq!(the_call(&capture), [attempts, "cancelled", ""], "{way:?} {layer}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn logs_of_the_body_are_in_the_span_and_nested_calls_are_children() {
    let (registry, (capture, _guard)) = (registry(), Capture::start());
    let stack = registry.stack().bulkhead("outer").build();
    let nested = stack.call(|| async {
        Way::Attributes.call(&registry, Body::Succeeds).await;
        Ok::<_, ()>(())
    });
    nested.await.unwrap();
    let spans = calls(&capture);
    assert_eq!(
        spans.iter().map(|span| span.fields.get("bulkhead")).collect::<Vec<_>>(),
        ["outer", "all"]
    );
    assert_eq!((spans[0].parent, spans[1].parent), (None, Some("protected_call")));
    let logs = capture.logs();
    let of_body = logs.iter().find(|log| log.fields.get("message") == "in the body").unwrap();
    assert_eq!(of_body.span, Some("protected_call"));
}

#[tokio::test(start_paused = true)]
async fn between_polls_a_thread_is_in_no_span() {
    for way in WAYS {
        let (registry, (_capture, _guard)) = (registry(), Capture::start());
        let mut call = pin!(way.call(&registry, Body::Hangs));
        assert!(poll(call.as_mut()).is_pending());
        assert!(tracing::Span::current().is_none(), "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_logged_with_the_kind_of_the_error() {
    for way in WAYS {
        let (capture, _guard) = Capture::start();
        way.call(&registry(), Body::Fails).await;
        let logs = capture.logs();
        let retries: Vec<_> = logs.iter().filter(|log| log.fields.get("retry") == "all").collect();
        assert_eq!(retries.len(), 1, "{way:?}");
        assert_eq!(retries[0].level, tracing::Level::DEBUG);
        assert_eq!(retries[0].span, Some("protected_call"), "{way:?}");
        assert_eq!(retries[0].fields.get("attempt"), "1");
        assert!(!retries[0].fields.get("wait").is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_state_is_logged_in_the_span_of_the_call_that_caused_it() {
    for way in WAYS {
        let config = format!("{SETTINGS}\n").replace(
            "circuit_breaker: { instances: { all: {} } }",
            "circuit_breaker: { instances: { all: { sliding_window_size: 1 } } }",
        );
        let config = Config::builder().env(false).text(&config, Format::Yaml).load().unwrap();
        let (capture, _guard) = Capture::start();
        way.call(&Resilience::from_config(config).unwrap(), Body::Fails).await;
        let logs = capture.logs();
        let opened = logs.iter().find(|log| log.fields.get("to") == "OPEN").unwrap();
        assert_eq!(opened.span, Some("protected_call"), "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_fallback_is_after_the_span() {
    let (capture, _guard) = Capture::start();
    let calls = Stack::builder().build().protect::<u32, Failure>();
    let calls = calls.fallback(|_: Failure| {
        assert!(tracing::Span::current().is_none());
        Ok(0)
    });
    assert_eq!(calls.call(|| run(Body::Fails)).await, Ok(0));
    assert_eq!(the_call(&capture), ["1", "failure", ""]);
}

/// A call through one instance alone: by itself, on the blocking thread, or as a layer of tower.
#[tokio::test(start_paused = true)]
async fn an_instance_that_is_used_alone_has_a_span_for_each_call() {
    let breaker = CircuitBreaker::new("alone", CircuitBreakerConfig::default());
    let bulkhead = Bulkhead::new("alone", BulkheadConfig::default());
    let limiter = RateLimiter::new("alone", RateLimiterConfig::default());
    let time_limiter = TimeLimiter::new("alone", TimeLimiterConfig::default());
    let once = RetryConfig::builder().max_attempts(2).wait_duration(Duration::ZERO);
    let retry = Retry::new("alone", once.build().unwrap());
    let fails = || Err::<u32, _>(Failure::Down);
    let service = || service_fn(run);
    macro_rules! each {
        ($($layer:literal, $attempts:literal: $call:expr;)*) => {
            $({
                let (capture, _guard) = Capture::start();
                drop($call);
                assert_eq!(the_call(&capture), [$attempts, "failure", ""], $layer);
                assert_eq!(calls(&capture)[0].fields.get($layer), "alone");
            })*
        };
    }
    let body = Body::Fails;
    each! {
        "circuit_breaker", "1": breaker.call(run(body)).await;
        "circuit_breaker", "1": breaker.call_blocking(fails);
        "circuit_breaker", "1":
            CircuitBreakerLayer::new(breaker.clone()).layer(service()).oneshot(body).await;
        "bulkhead", "1": bulkhead.call(run(body)).await;
        "bulkhead", "1": bulkhead.call_blocking(fails);
        "bulkhead", "1": BulkheadLayer::new(bulkhead.clone()).layer(service()).oneshot(body).await;
        "rate_limiter", "1": limiter.call(run(body)).await;
        "rate_limiter", "1": limiter.call_blocking(fails);
        "rate_limiter", "1":
            RateLimiterLayer::new(limiter.clone()).layer(service()).oneshot(body).await;
        "time_limiter", "1": time_limiter.call(run(body)).await;
        "time_limiter", "1":
            TimeLimiterLayer::new(time_limiter.clone()).layer(service()).oneshot(body).await;
        "retry", "2": retry.call(|| run(body)).await;
        "retry", "2": retry.call_blocking(fails);
        "retry", "2": RetryLayer::new(retry.clone()).layer(service()).oneshot(body).await;
        "retry", "2": Stack::builder().retry(retry.clone()).build().call_blocking(fails);
    }
}

#[tokio::test]
async fn a_call_on_a_thread_pool_runs_in_its_span_there() {
    let (capture, _guard) = Capture::start();
    let pool = ThreadPoolBulkhead::new("reports", ThreadPoolBulkheadConfig::default());
    let name = || tracing::Span::current().metadata().map(tracing::Metadata::name);
    let dispatch = tracing::dispatcher::get_default(Clone::clone);
    let there = move || tracing::dispatcher::with_default(&dispatch, || Ok::<_, ()>(name()));
    assert_eq!(pool.call(there).await, Ok(Some("protected_call")));
    assert_eq!(the_call(&capture), ["1", "success", ""]);
    assert_eq!(calls(&capture)[0].fields.get("bulkhead"), "reports");
}

#[time_limiter(name = "all", detach)]
async fn detached() -> Result<Option<&'static str>, Failure> {
    Ok(tracing::Span::current().metadata().map(tracing::Metadata::name))
}

#[tokio::test(start_paused = true)]
async fn a_detached_body_runs_in_the_span_of_its_call() {
    let (_capture, _guard) = Capture::start();
    assert_eq!(registry().scope(detached()).await, Ok(Some("protected_call")));
}

#[retry(name = "keyed", key = user)]
#[bulkhead(name = "keyed", key = user, max_concurrent_calls = 0)]
async fn keyed(user: &str) -> Result<u32, Failure> {
    Ok(u32::try_from(user.len()).unwrap_or(0))
}

#[tokio::test(start_paused = true)]
async fn no_key_is_told() {
    let (registry, (capture, _guard)) = (registry(), Capture::start());
    assert!(registry.scope(keyed("secret-user")).await.is_err());
    assert_eq!(calls(&capture).len(), 1);
    assert!(!capture.logs().is_empty());
    assert!(!format!("{:?}{:?}", capture.spans(), capture.logs()).contains("secret"));
}

/// Panics whenever it is told something.
struct Panics;

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Panics {
    fn on_new_span(
        &self,
        _: &tracing::span::Attributes<'_>,
        _: &tracing::span::Id,
        _: tracing_subscriber::layer::Context<'_, S>,
    ) {
        panic!("subscriber");
    }

    fn on_event(&self, _: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        panic!("subscriber");
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_panics_changes_no_call() {
    use tracing_subscriber::layer::SubscriberExt;
    let registry = registry();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(Panics));
    let full = BulkheadConfig::builder().max_concurrent_calls(0).build().unwrap();
    let full = Bulkhead::new("full", full);
    let refused = full.call(async { Ok::<_, ()>(()) }).await;
    assert!(matches!(refused, Err(CallError::Resilience(Error::BulkheadFull(_)))));
    let stack = registry.stack().circuit_breaker("all").bulkhead("all").build();
    assert_eq!(stack.call(|| async { Ok::<_, ()>(7) }).await, Ok(7));
    assert_eq!(registry.bulkhead("all").available_concurrent_calls(), 2);
}

#[test]
fn a_subscriber_that_panics_changes_nothing_of_what_a_registry_does() {
    use tracing_subscriber::layer::SubscriberExt;
    let registry = registry();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(Panics));
    registry.set_enabled(resilience::config::Pattern::Bulkhead, false);
    assert!(!registry.bulkhead("all").is_enabled());
    registry.clear_enabled(resilience::config::Pattern::Bulkhead);
    registry.set_enabled(resilience::config::Pattern::Bulkhead, true);
    let config = Config::builder().env(false).set("retry.instances.all.max_attempts", "7").load();
    let changed = registry.reload(config.unwrap()).unwrap();
    assert!(!changed.changes.is_empty());
    assert_eq!(registry.retry("all").config().max_attempts(), 7);
    let one_key = BulkheadConfig::builder().max_keys(1).build().unwrap();
    let shards = Bulkhead::new("shard", one_key);
    let _held = shards.keyed("a").try_acquire().unwrap();
    assert_eq!(shards.keyed("b").key(), None, "the one that further keys share");
}
