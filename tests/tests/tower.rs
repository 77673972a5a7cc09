//! The tower layers over plain services: what tower promises to services and callers, and what the
//! patterns promise to both.

use std::{
    future::{Future, Ready, pending, ready},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use http::Response;
use resilience::{
    Bulkhead, BulkheadConfig, CallError, CircuitBreaker, CircuitBreakerConfig, Clock, Config,
    Error, ManualClock, Outcome, RateLimiter, RateLimiterConfig, Resilience, Retry, RetryConfig,
    Rules, Stack, TimeLimiter, TimeLimiterConfig,
    circuit_breaker::State,
    config::Format,
    tower::{
        BulkheadLayer, CircuitBreakerLayer, RateLimiterLayer, RefusalsToHttp, RetryLayer,
        StackLayer, TimeLimiterLayer, grpc_outcome, grpc_response, http_response,
    },
};
use tower::{BoxError, Layer, Service, ServiceBuilder, ServiceExt, service_fn};

const SECOND: Duration = Duration::from_secs(1);

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn now<F: Future>(future: F) -> F::Output {
    match poll(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn is_ready<S: Service<u32>>(service: &mut S) -> bool {
    service.poll_ready(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// One instance of each pattern on a clock by hand.
struct Five {
    retry: Retry,
    breaker: CircuitBreaker,
    limiter: RateLimiter,
    time_limiter: TimeLimiter,
    bulkhead: Bulkhead,
    hand: ManualClock,
}

impl Five {
    /// One place, one permission a second, one second for a call, three attempts without a wait;
    /// two failures open the breaker for a second, then it takes one probe.
    fn new() -> Self {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let retry = RetryConfig::builder().max_attempts(3).wait_duration(Duration::ZERO);
        let breaker = CircuitBreakerConfig::builder()
            .sliding_window_size(2)
            .failure_rate_threshold(100.0)
            .wait_duration_in_open_state(SECOND)
            .permitted_number_of_calls_in_half_open_state(1);
        let limiter = RateLimiterConfig::builder()
            .limit_for_period(1)
            .limit_refresh_period(SECOND)
            .timeout_duration(SECOND);
        let time_limiter = TimeLimiterConfig::builder().timeout_duration(SECOND);
        let bulkhead = BulkheadConfig::builder().max_concurrent_calls(1).max_wait_duration(SECOND);
        Self {
            retry: Retry::with_clock("secret", retry.build().expect("in range"), clock.clone()),
            breaker: CircuitBreaker::with_clock(
                "secret",
                breaker.build().expect("in range"),
                clock.clone(),
            ),
            limiter: RateLimiter::with_clock(
                "secret",
                limiter.build().expect("in range"),
                clock.clone(),
            ),
            time_limiter: TimeLimiter::with_clock(
                "secret",
                time_limiter.build().expect("in range"),
                clock.clone(),
            ),
            bulkhead: Bulkhead::with_clock("secret", bulkhead.build().expect("in range"), clock),
            hand,
        }
    }

    /// All but the rate limiter, which would let one call through only.
    fn stack(&self) -> Stack {
        Stack::builder()
            .retry(self.retry.clone())
            .circuit_breaker(self.breaker.clone())
            .time_limiter(self.time_limiter.clone())
            .bulkhead(self.bulkhead.clone())
            .build()
    }

    /// Lets the breaker take its probe with the next call.
    fn half_open(&self) {
        self.breaker.transition_to(State::Open).expect("closed before");
        self.hand.advance(2 * SECOND);
    }

    fn assert_idle(&self) {
        assert_eq!(self.bulkhead.available_concurrent_calls(), 1, "bulkhead");
        assert_eq!(self.bulkhead.waiting(), 0, "bulkhead queue");
        assert_eq!(self.limiter.waiting(), 0, "limiter queue");
    }
}

/// A service that insists on tower's contract: `call` panics unless this very value was polled
/// ready, and a clone is not ready because the original is.
struct Strict {
    ready: bool,
    calls: Arc<AtomicU32>,
    clones: Arc<AtomicU32>,
}

impl Strict {
    fn new() -> Self {
        Self { ready: false, calls: Arc::default(), clones: Arc::default() }
    }
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, Ordering::Relaxed);
        Self { ready: false, calls: self.calls.clone(), clones: self.clones.clone() }
    }
}

impl Service<u32> for Strict {
    type Response = u32;
    type Error = &'static str;
    type Future = Ready<Result<u32, &'static str>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: u32) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called without being ready");
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        // The request says how many calls fail.
        ready(if call < request { Err("failed") } else { Ok(call) })
    }
}

#[test]
fn f08_a_service_that_is_dropped_when_it_is_ready_holds_nothing() {
    let five = Five::new();
    five.half_open();
    let bulkhead = BulkheadLayer::new(five.bulkhead.clone());
    let mut service = ServiceBuilder::new()
        .layer(CircuitBreakerLayer::new(five.breaker.clone()))
        .layer(RateLimiterLayer::new(five.limiter.clone()))
        .layer(bulkhead)
        .layer(StackLayer::new(five.stack()))
        .service(Strict::new());
    assert!(is_ready(&mut service));
    assert!(is_ready(&mut service));
    assert_eq!(five.bulkhead.available_concurrent_calls(), 1);
    assert_eq!(five.limiter.available_permissions(), 1);
    drop(service);
    let probe = five.breaker.try_acquire().unwrap();
    probe.success();
    five.assert_idle();
}

#[test]
fn a_call_goes_to_the_service_that_was_polled_ready() {
    let five = Five::new();
    assert_eq!(
        now(BulkheadLayer::new(five.bulkhead.clone()).layer(Strict::new()).oneshot(0)),
        Ok(0)
    );
    assert_eq!(
        now(RateLimiterLayer::new(five.limiter.clone()).layer(Strict::new()).oneshot(0)),
        Ok(0)
    );
    assert_eq!(
        now(TimeLimiterLayer::new(five.time_limiter.clone()).layer(Strict::new()).oneshot(0)),
        Ok(0)
    );
    assert_eq!(
        now(CircuitBreakerLayer::new(five.breaker.clone()).layer(Strict::new()).oneshot(0)),
        Ok(0)
    );
    assert_eq!(now(StackLayer::new(five.stack()).layer(Strict::new()).oneshot(0)), Ok(0));
    assert_eq!(now(RetryLayer::new(five.retry.clone()).layer(Strict::new()).oneshot(0)), Ok(0));
}

#[test]
fn a_call_that_waits_for_its_turn_takes_the_ready_service_along() {
    let five = Five::new();
    let taken = five.bulkhead.try_acquire().unwrap();
    let mut bulkhead = BulkheadLayer::new(five.bulkhead.clone()).layer(Strict::new());
    assert!(is_ready(&mut bulkhead));
    let mut call = pin!(bulkhead.call(0));
    assert!(poll(call.as_mut()).is_pending());
    drop(taken);
    assert_eq!(poll(call), Poll::Ready(Ok(0)));

    five.limiter.try_acquire(1).unwrap();
    let mut limiter = RateLimiterLayer::new(five.limiter.clone()).layer(Strict::new());
    assert!(is_ready(&mut limiter));
    let mut call = pin!(limiter.call(0));
    assert!(poll(call.as_mut()).is_pending());
    five.hand.advance(SECOND);
    assert_eq!(poll(call), Poll::Ready(Ok(0)));
    five.assert_idle();
}

#[test]
fn a_call_that_is_let_in_at_once_clones_no_service() {
    let five = Five::new();
    let strict = Strict::new();
    let clones = Arc::clone(&strict.clones);
    let service = ServiceBuilder::new()
        .layer(CircuitBreakerLayer::new(five.breaker.clone()))
        .layer(RateLimiterLayer::new(five.limiter.clone()))
        .layer(TimeLimiterLayer::new(five.time_limiter.clone()))
        .layer(BulkheadLayer::new(five.bulkhead.clone()))
        .service(strict);
    now(service.oneshot(0)).unwrap();
    assert_eq!(clones.load(Ordering::Relaxed), 0);
}

#[test]
fn further_attempts_go_to_clones_that_were_made_ready() {
    let five = Five::new();
    let service = RetryLayer::new(five.retry.clone()).layer(Strict::new());
    assert_eq!(now(service.oneshot(2)), Ok(2));
    assert_eq!(five.retry.metrics().successful_with_retry, 1);
    let bad = |_: &u32| Outcome::Failure;
    let service = RetryLayer::new(five.retry.clone()).classify(bad).layer(Strict::new());
    assert_eq!(now(service.oneshot(0)), Ok(2));
    assert_eq!(five.retry.metrics().failed_with_retry, 1);
}

#[test]
fn a_call_without_readiness_does_not_panic_in_a_layer() {
    let five = Five::new();
    let mut service = ServiceBuilder::new()
        .layer(RateLimiterLayer::new(five.limiter.clone()))
        .layer(BulkheadLayer::new(five.bulkhead.clone()))
        .layer(StackLayer::new(Stack::builder().build()))
        .service(service_fn(|request: u32| ready(Ok::<_, &str>(request))));
    let taken = five.bulkhead.try_acquire().unwrap();
    let mut call = pin!(service.call(7));
    assert!(poll(call.as_mut()).is_pending());
    drop(taken);
    assert_eq!(poll(call), Poll::Ready(Ok(7)));
}

/// Is ready when told, and fails to be when told otherwise.
#[derive(Clone)]
struct Gate(Poll<Result<(), &'static str>>);

impl Service<u32> for Gate {
    type Response = u32;
    type Error = &'static str;
    type Future = Ready<Result<u32, &'static str>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        self.0
    }

    fn call(&mut self, request: u32) -> Self::Future {
        ready(Ok(request))
    }
}

#[test]
fn readiness_is_that_of_the_inner_service_and_counts_nowhere() {
    let five = Five::new();
    let layer = CircuitBreakerLayer::new(five.breaker.clone());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(layer.layer(Gate(Poll::Pending)).poll_ready(&mut cx).is_pending());
    let broken = Gate(Poll::Ready(Err("gone")));
    assert_eq!(
        layer.layer(broken.clone()).poll_ready(&mut cx),
        Poll::Ready(Err(CallError::Inner("gone")))
    );
    assert_eq!(
        StackLayer::new(five.stack()).layer(broken).poll_ready(&mut cx),
        Poll::Ready(Err(CallError::Inner("gone")))
    );
    assert_eq!(five.breaker.metrics().buffered_calls, 0);
}

#[test]
fn clones_of_layers_and_services_share_the_instance() {
    let five = Five::new();
    let layer = CircuitBreakerLayer::new(five.breaker.clone());
    let one = layer.clone().layer(service_fn(|_: u32| ready(Err::<u32, _>("down"))));
    let other = layer.layer(service_fn(|request: u32| ready(Ok::<_, &str>(request))));
    for service in [one.clone(), one] {
        assert_eq!(now(service.oneshot(0)), Err(CallError::Inner("down")));
    }
    assert!(matches!(
        now(other.oneshot(0)),
        Err(CallError::Resilience(Error::CallNotPermitted(_)))
    ));
}

#[test]
fn a_response_counts_the_way_it_is_classified() {
    let five = Five::new();
    let stack = StackLayer::new(five.stack()).classify(|status: &u32| match status {
        500.. => Outcome::Failure,
        404 => Outcome::Ignored,
        _ => Outcome::Success,
    });
    let service = stack.layer(service_fn(|status: u32| ready(Ok::<_, &str>(status))));
    assert_eq!(now(service.clone().oneshot(404)), Ok(404));
    assert_eq!(five.breaker.metrics().buffered_calls, 0);
    assert_eq!(now(service.clone().oneshot(200)), Ok(200));
    assert_eq!(five.breaker.metrics().successful_calls, 1);
    // The second failure in the window of two opens the breaker, which ends the retries.
    assert!(matches!(
        now(service.oneshot(503)),
        Err(CallError::Resilience(Error::CallNotPermitted(_)))
    ));
    assert_eq!(five.retry.metrics().total_calls, 5);
}

#[test]
fn a_request_that_has_no_copy_is_sent_once_even_when_it_times_out() {
    struct Unclonable(u32);
    let five = Five::new();
    let sent = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&sent);
    let never = service_fn(move |request: Unclonable| {
        counter.fetch_add(request.0, Ordering::Relaxed);
        pending::<Result<u32, &'static str>>()
    });
    let layer = StackLayer::new(five.stack()).clone_request(|_: &Unclonable| None);
    let mut call = pin!(layer.layer(never).oneshot(Unclonable(1)));
    assert!(poll(call.as_mut()).is_pending());
    five.hand.advance(SECOND);
    assert!(matches!(poll(call), Poll::Ready(Err(CallError::Resilience(Error::TimedOut(_))))));
    assert_eq!(sent.load(Ordering::Relaxed), 1);
    five.assert_idle();
}

#[test]
fn a_request_that_has_no_further_copy_ends_with_the_last_error() {
    /// How often it can still be copied.
    struct Copies(u32);
    let five = Five::new();
    let stacks = [
        Stack::builder().retry(five.retry.clone()).build(),
        // In an order other than the fixed one, too.
        Stack::builder().bulkhead(five.bulkhead.clone()).retry(five.retry.clone()).build(),
    ];
    for stack in stacks {
        let sent = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&sent);
        let failing = service_fn(move |_: Copies| {
            ready(Err::<u32, _>(counter.fetch_add(1, Ordering::Relaxed)))
        });
        let layer = StackLayer::new(stack)
            .clone_request(|request: &Copies| request.0.checked_sub(1).map(Copies));
        let service = layer.layer(failing);
        assert_eq!(now(service.clone().oneshot(Copies(1))), Err(CallError::Inner(1)));
        assert_eq!(sent.load(Ordering::Relaxed), 2);
        now(service.oneshot(Copies(9))).unwrap_err();
        assert_eq!(sent.load(Ordering::Relaxed), 5, "three attempts at most");
        five.assert_idle();
    }
}

#[test]
fn a_dropped_call_gives_back_what_it_holds_and_counts_as_nothing() {
    let five = Five::new();
    let hang = || service_fn(|_: u32| pending::<Result<u32, &'static str>>());
    five.half_open();
    let single = ServiceBuilder::new()
        .layer(CircuitBreakerLayer::new(five.breaker.clone()))
        .layer(TimeLimiterLayer::new(five.time_limiter.clone()))
        .layer(BulkheadLayer::new(five.bulkhead.clone()))
        .service(hang());
    let stack = StackLayer::new(five.stack()).layer(hang());
    for polled in [false, true] {
        let mut one = Box::pin(single.clone().oneshot(0));
        assert!(!polled || poll(one.as_mut()).is_pending());
        drop(one);
        let mut whole = Box::pin(stack.clone().oneshot(0));
        assert!(!polled || poll(whole.as_mut()).is_pending());
        drop(whole);
        five.assert_idle();
    }
    // The only probe of the half-open breaker is still to be had.
    five.breaker.try_acquire().unwrap().success();
    assert_eq!(five.breaker.state(), State::Closed);
}

#[test]
fn a_call_that_is_dropped_while_it_waits_for_its_turn_leaves_the_line() {
    let five = Five::new();
    let echo = || service_fn(|request: u32| ready(Ok::<_, &str>(request)));
    let _taken = five.bulkhead.try_acquire().unwrap();
    five.limiter.try_acquire(1).unwrap();
    let bulkhead = BulkheadLayer::new(five.bulkhead.clone()).layer(echo());
    let limiter = RateLimiterLayer::new(five.limiter.clone()).layer(echo());
    {
        let mut queued = pin!(bulkhead.oneshot(0));
        let mut reserved = pin!(limiter.oneshot(0));
        assert!(poll(queued.as_mut()).is_pending());
        assert!(poll(reserved.as_mut()).is_pending());
        assert_eq!((five.bulkhead.waiting(), five.limiter.waiting()), (1, 1));
    }
    assert_eq!((five.bulkhead.waiting(), five.limiter.waiting()), (0, 0));
}

#[test]
fn a_wait_that_is_too_long_is_refused() {
    let five = Five::new();
    let _taken = five.bulkhead.try_acquire().unwrap();
    let echo = service_fn(|request: u32| ready(Ok::<_, &str>(request)));
    let mut call = pin!(BulkheadLayer::new(five.bulkhead.clone()).layer(echo).oneshot(0));
    assert!(poll(call.as_mut()).is_pending());
    five.hand.advance(SECOND);
    assert!(matches!(poll(call), Poll::Ready(Err(CallError::Resilience(Error::BulkheadFull(_))))));
}

#[test]
fn a_panic_of_the_service_is_one_failure_and_frees_its_place() {
    let five = Five::new();
    let in_call = || service_fn(|_: u32| -> Ready<Result<u32, &'static str>> { panic!("in call") });
    let in_poll = || service_fn(|_: u32| async { panic!("in poll") as Result<u32, &'static str> });
    macro_rules! panics {
        ($service:expr) => {
            let service = ServiceBuilder::new()
                .layer(CircuitBreakerLayer::new(five.breaker.clone()))
                .layer(BulkheadLayer::new(five.bulkhead.clone()))
                .service($service);
            assert!(catch_unwind(AssertUnwindSafe(|| now(service.oneshot(0)))).is_err());
            five.assert_idle();
        };
    }
    panics!(in_call());
    assert_eq!(five.breaker.metrics().failed_calls, 1);
    panics!(in_poll());
    assert_eq!(five.breaker.state(), State::Open);
}

#[test]
fn named_layers_use_the_registry_of_the_scope_they_are_made_in() {
    let yaml = "
        retry.instances.stock: { max_attempts: 2, wait_duration: 0ms }
        bulkhead.instances.stock: { max_concurrent_calls: 0 }";
    let registry = Resilience::from_config(Config::from_str(yaml, Format::Yaml).unwrap()).unwrap();
    let layer = registry.scope_sync(|| StackLayer::named("stock"));
    let service = layer.layer(service_fn(|request: u32| ready(Ok::<_, &str>(request))));
    assert!(matches!(now(service.oneshot(1)), Err(CallError::Resilience(Error::BulkheadFull(_)))));
    assert_eq!(registry.retry("stock").metrics().failed_with_retry, 1);
    assert!(registry.find_circuit_breaker("stock").is_none());

    let layer = registry.scope_sync(|| CircuitBreakerLayer::named("search"));
    now(layer.layer(service_fn(|_: u32| ready(Err::<u32, _>(())))).oneshot(1)).unwrap_err();
    assert_eq!(registry.circuit_breaker("search").metrics().failed_calls, 1);
}

#[test]
fn a_layer_by_name_follows_reloads_of_the_patterns_that_it_found() {
    let config = |text: &str| {
        Config::builder().env(false).text(text, Format::Yaml).load().expect("a configuration")
    };
    let registry = Resilience::from_config(config(
        "bulkhead.instances.stock: { enabled: false, max_concurrent_calls: 0 }",
    ))
    .unwrap();
    let layer = StackLayer::from_registry(&registry, "stock");
    let call = |layer: &StackLayer| {
        now(layer.layer(service_fn(|_: u32| ready(Err::<u32, _>("down")))).oneshot(0))
    };
    assert_eq!(call(&layer), Err(CallError::Inner("down")));
    let reloaded = "
        bulkhead.instances.stock: { max_concurrent_calls: 0 }
        retry.instances.stock: { max_attempts: 2, wait_duration: 0ms }";
    registry.reload(config(reloaded)).unwrap();
    let retry = registry.retry("stock");
    assert!(matches!(call(&layer), Err(CallError::Resilience(Error::BulkheadFull(_)))));
    assert_eq!(retry.metrics().total_calls, 0, "a layer of before");
    call(&StackLayer::from_registry(&registry, "stock")).unwrap_err();
    assert_eq!(retry.metrics().total_calls, 2);
}

#[test]
#[should_panic(expected = "no pattern has an instance 'nowhere'")]
fn a_stack_of_a_name_that_nothing_has_is_not_made() {
    StackLayer::from_registry(&Resilience::from_config(Config::default()).unwrap(), "nowhere");
}

#[test]
fn a_boxed_error_is_of_the_kinds_of_the_error_in_the_box() {
    let config = CircuitBreakerConfig::builder().ignore_errors(["io"]).build().unwrap();
    let breaker = CircuitBreaker::new("disk", config);
    let layer = CircuitBreakerLayer::new(breaker.clone()).kinds();
    let service = layer.layer(service_fn(|_: u32| {
        ready(Err::<u32, BoxError>(std::io::Error::other("worn out").into()))
    }));
    now(service.oneshot(0)).unwrap_err();
    assert_eq!(breaker.metrics().failed_calls, 0);
}

#[test]
fn rules_apply_to_errors_too() {
    let five = Five::new();
    let rules = Rules::new().ignore(|error: &&str| *error == "sold out");
    let layer = CircuitBreakerLayer::new(five.breaker.clone()).rules(rules);
    let service = layer.layer(service_fn(|_: u32| ready(Err::<u32, _>("sold out"))));
    now(service.oneshot(0)).unwrap_err();
    assert_eq!(five.breaker.metrics().failed_calls, 0);
}

/// One refusal of each pattern.
fn refusals() -> [Error; 4] {
    let five = Five::new();
    five.breaker.transition_to_open_for(Duration::from_millis(1500)).expect("free");
    let breaker = five.breaker.try_acquire().expect_err("refused");
    five.limiter.try_acquire(1).expect("free");
    five.hand.advance(Duration::from_millis(10));
    let limiter = five.limiter.try_acquire(1).expect_err("refused");
    let _taken = five.bulkhead.try_acquire().expect("free");
    let bulkhead = five.bulkhead.try_acquire().expect_err("refused");
    let mut call = pin!(five.time_limiter.call(pending::<Result<(), ()>>()));
    assert!(poll(call.as_mut()).is_pending());
    five.hand.advance(SECOND);
    let Poll::Ready(Err(CallError::Resilience(timeout))) = poll(call) else { panic!("no timeout") };
    [breaker.into(), limiter.into(), bulkhead.into(), timeout]
}

#[test]
fn refusals_are_http_responses() {
    let seen = refusals().map(|refusal| {
        let response: Response<String> = http_response(&refusal);
        let wait = response.headers().get("retry-after").map(|value| value.to_str().unwrap());
        assert!(!response.body().contains("secret"));
        (response.status().as_u16(), wait.map(str::to_owned))
    });
    let seconds = |wait: &str| Some(wait.to_owned());
    assert_eq!(seen, [(503, seconds("2")), (429, seconds("1")), (503, None), (504, None)]);
}

#[test]
fn refusals_are_grpc_responses() {
    let seen = refusals().map(|refusal| {
        let response: Response<String> = grpc_response(&refusal);
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/grpc");
        let header = |name| response.headers().get(name).map(|value| value.to_str().unwrap());
        let status = header("grpc-status").unwrap().to_owned();
        assert_eq!(grpc_outcome(&response), Outcome::Failure);
        (status, header("grpc-retry-pushback-ms").map(str::to_owned))
    });
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        seen,
        [
            ("14".to_owned(), some("1500")),
            ("8".to_owned(), some("990")),
            ("14".to_owned(), None),
            ("4".to_owned(), None)
        ]
    );
}

#[test]
fn errors_of_a_service_are_no_responses() {
    let five = Five::new();
    let service = ServiceBuilder::new()
        .layer(RefusalsToHttp)
        .map_err(CallError::flatten)
        .layer(CircuitBreakerLayer::new(five.breaker.clone()))
        .layer(TimeLimiterLayer::new(five.time_limiter.clone()))
        .service(service_fn(|_: u32| ready(Err::<Response<String>, _>("down"))));
    assert_eq!(now(service.clone().oneshot(0)).unwrap_err(), "down");
    assert_eq!(now(service.clone().oneshot(0)).unwrap_err(), "down");
    assert_eq!(now(service.oneshot(0)).unwrap().status(), 503);
}

#[tokio::test(start_paused = true)]
async fn lone_layers_keep_to_the_deadline() {
    let pending = || service_fn(|_: u32| std::future::pending::<Result<u32, &'static str>>());
    let is_deadline = |outcome: Result<u32, CallError<&'static str>>| match outcome {
        Err(CallError::Resilience(Error::TimedOut(error))) => error.is_deadline(),
        other => panic!("{other:?}"),
    };
    let within = |left: Duration, call| resilience::with_deadline(left, call);
    let hour = Duration::from_hours(1);

    let config = BulkheadConfig::builder().max_concurrent_calls(1).max_wait_duration(hour).build();
    let bulkhead = Bulkhead::new("b", config.unwrap());
    let permit = bulkhead.try_acquire().unwrap();
    let waits = BulkheadLayer::new(bulkhead.clone()).layer(pending());
    assert!(is_deadline(within(SECOND, waits.clone().oneshot(0)).await));
    assert_eq!((bulkhead.metrics().cancelled, bulkhead.waiting()), (1, 0));
    drop(permit);
    assert!(is_deadline(within(Duration::ZERO, waits.oneshot(0)).await));
    assert_eq!(bulkhead.metrics().permitted, 1);

    let config = TimeLimiterConfig::builder().timeout_duration(hour).build().unwrap();
    let limiter = TimeLimiter::new("t", config);
    let bounded = TimeLimiterLayer::new(limiter.clone()).layer(pending());
    for left in [SECOND, Duration::ZERO] {
        let call = bounded.clone().oneshot(0);
        assert!(is_deadline(resilience::with_deadline(left, call).await));
    }
    assert_eq!(limiter.metrics().timeout, 0);

    let config = RateLimiterConfig::builder()
        .limit_for_period(1)
        .limit_refresh_period(hour)
        .timeout_duration(hour);
    let limiter = RateLimiter::new("r", config.build().unwrap());
    let rated = RateLimiterLayer::new(limiter.clone()).layer(pending());
    let late = rated.clone().oneshot(0);
    assert!(is_deadline(resilience::with_deadline(Duration::ZERO, late).await));
    limiter.try_acquire(1).unwrap();
    let refused = resilience::with_deadline(SECOND, rated.oneshot(0)).await;
    assert!(matches!(refused, Err(CallError::Resilience(Error::RequestNotPermitted(_)))));
}
