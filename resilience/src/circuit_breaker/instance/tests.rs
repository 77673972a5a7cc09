use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

use tokio::{runtime::Handle, task::yield_now};

use super::*;
use crate::{ManualClock, events::Event, sync::Mutex as Lock, test_support::poll};

const SECOND: Duration = Duration::from_secs(1);

fn breaker(
    configure: impl FnOnce(
        crate::circuit_breaker::CircuitBreakerConfigBuilder,
    ) -> crate::circuit_breaker::CircuitBreakerConfigBuilder,
) -> (CircuitBreaker, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::from_secs(1_000));
    let config = CircuitBreakerConfig::builder().sliding_window_size(2);
    let config = configure(config.wait_duration_in_open_state(SECOND)).build().unwrap();
    (CircuitBreaker::with_clock("b", config, clock), hand)
}

fn automatic() -> (CircuitBreaker, ManualClock) {
    breaker(|config| config.automatic_transition_from_open_to_half_open_enabled(true))
}

fn heard(breaker: &CircuitBreaker) -> Arc<Lock<Vec<CircuitBreakerEvent>>> {
    let heard = Arc::new(Lock::new(Vec::new()));
    let log = Arc::clone(&heard);
    breaker.events().subscribe(move |event| log.lock().push(event.clone())).forever();
    heard
}

fn types(events: &Lock<Vec<CircuitBreakerEvent>>) -> Vec<&'static str> {
    events.lock().iter().map(Event::type_name).collect()
}

async fn give_tasks_a_turn() {
    for _ in 0..4 {
        yield_now().await;
    }
}

#[test]
fn a_call_is_told_before_what_it_causes_and_a_transition_tells_why() {
    let (breaker, _hand) = breaker(|config| config);
    let heard = heard(&breaker);
    breaker.try_acquire().unwrap().success();
    breaker.try_acquire().unwrap().failure();
    assert_eq!(types(&heard), ["SUCCESS", "ERROR", "FAILURE_RATE_EXCEEDED", "STATE_TRANSITION"]);
    assert_eq!(
        heard.lock()[3].kind,
        CircuitBreakerEventKind::StateTransition {
            from: State::Closed,
            to: State::Open,
            failure_rate: 50.0,
            slow_call_rate: 0.0,
            buffered_calls: 2,
            failed_calls: 1,
            slow_calls: 0,
            shared: false,
        }
    );
}

#[test]
fn without_a_listener_only_what_is_rare_is_kept() {
    let (breaker, _hand) = breaker(|config| config);
    breaker.try_acquire().unwrap().failure();
    breaker.try_acquire().unwrap().failure();
    assert!(breaker.try_acquire().is_err());
    breaker.reset();
    let kept: Vec<_> = breaker.events().recent().iter().map(|event| event.type_name).collect();
    assert_eq!(kept, ["FAILURE_RATE_EXCEEDED", "STATE_TRANSITION", "STATE_TRANSITION", "RESET"]);
}

#[test]
fn forced_open_refuses_silently_and_counts() {
    let (breaker, _hand) = breaker(|config| config);
    breaker.transition_to(State::ForcedOpen).unwrap();
    let heard = heard(&breaker);
    assert!(breaker.try_acquire().is_err());
    assert!(heard.lock().is_empty());
    let metrics = breaker.metrics();
    assert_eq!((metrics.not_permitted_calls, metrics.totals.not_permitted), (1, 1));
}

#[test]
fn a_listener_may_use_the_breaker() {
    let (breaker, _hand) = breaker(|config| config);
    let (twin, states) = (breaker.clone(), Arc::new(Lock::new(Vec::new())));
    let log = Arc::clone(&states);
    let _subscription = breaker.events().subscribe(move |event| {
        if event.type_name() == "STATE_TRANSITION" && twin.state() == State::Open {
            twin.reset();
        }
        log.lock().push(twin.state());
    });
    breaker.transition_to(State::Open).unwrap();
    assert_eq!(*states.lock(), [State::Closed; 3]);
}

#[test]
fn an_illegal_transition_is_refused_in_words() {
    let (breaker, _hand) = breaker(|config| config);
    assert_eq!(
        breaker.transition_to(State::HalfOpen).unwrap_err().to_string(),
        "CircuitBreaker 'b' tried an illegal state transition from CLOSED to HALF_OPEN"
    );
    breaker.transition_to(State::MetricsOnly).unwrap();
    assert!(breaker.transition_to_open_for(SECOND).is_err());
}

#[test]
fn an_instance_tells_its_name() {
    assert_eq!(breaker(|config| config).0.name(), "b");
}

#[test]
fn totals_only_grow() {
    let (breaker, _hand) = breaker(|config| config);
    let late = breaker.try_acquire().unwrap();
    breaker.try_acquire().unwrap().failure();
    breaker.try_acquire().unwrap().failure();
    breaker.reset();
    late.success();
    let totals = breaker.metrics().totals;
    assert_eq!((totals.successful, totals.failed, totals.transitions), (1, 2, 2));
    assert_eq!(totals.cancelled, 0);
}

#[test]
fn slow_are_the_calls_beyond_the_limit_that_are_not_ignored() {
    let (breaker, _hand) = breaker(|config| {
        config.sliding_window_size(9).slow_call_duration_threshold(SECOND).ignore_errors(["io"])
    });
    breaker.on_success(SECOND);
    breaker.on_success(SECOND + Duration::from_nanos(1));
    breaker.on_error(2 * SECOND, &["other"]);
    breaker.on_error(2 * SECOND, &["io"]);
    let metrics = breaker.metrics();
    assert_eq!((metrics.slow_calls, metrics.totals.slow), (2, 2));
}

#[test]
fn calls_that_are_given_up_show_in_the_totals() {
    let (breaker, _hand) = breaker(|config| config);
    drop([(); 2].map(|()| breaker.try_acquire().unwrap()));
    let metrics = breaker.metrics();
    assert_eq!((metrics.buffered_calls, metrics.totals.cancelled), (0, 2));
}

#[test]
fn a_permit_that_is_to_be_ignored_is_not_given_up() {
    let (breaker, _hand) = breaker(|config| config);
    breaker.try_acquire().unwrap().ignore();
    let totals = breaker.metrics().totals;
    assert_eq!((totals.ignored, totals.cancelled), (1, 0));
}

#[test]
fn a_panic_is_told_as_an_error_of_that_kind() {
    let (breaker, _hand) = breaker(|config| config);
    let heard = heard(&breaker);
    let call = breaker.call(poll_fn(|_| -> Poll<Result<(), ()>> { panic!("on purpose") }));
    let polled = catch_unwind(AssertUnwindSafe(|| poll(pin!(call))));
    assert!(polled.is_err());
    let elapsed = Duration::ZERO;
    assert_eq!(heard.lock()[0].kind, CircuitBreakerEventKind::Error { elapsed, kinds: &["panic"] });
}

#[test]
fn a_disabled_layer_passes_everything_and_counts_nothing() {
    let (breaker, _hand) = breaker(|config| config.enabled(false));
    breaker.transition_to(State::ForcedOpen).unwrap();
    let before = breaker.metrics();
    assert!(!breaker.is_enabled());
    assert!(breaker.try_acquire_permission());
    breaker.on_success(SECOND);
    breaker.try_acquire().unwrap().failure();
    assert_eq!(breaker.metrics(), before);
}

#[test]
fn a_reload_can_switch_the_layer_off_and_on() {
    let (breaker, _hand) = breaker(|config| config);
    breaker.transition_to(State::ForcedOpen).unwrap();
    let off = CircuitBreakerConfig::builder().enabled(false).build().unwrap();
    breaker.reconfigure(off);
    assert!(breaker.try_acquire().is_ok());
    breaker.reconfigure(CircuitBreakerConfig::default());
    assert!(breaker.try_acquire().is_err());
}

#[test]
fn a_call_that_time_alone_has_let_in_counts() {
    let (breaker, hand) = breaker(|config| {
        let closes = config.transition_to_state_after_wait_duration(State::Closed);
        closes.max_wait_duration_in_half_open_state(SECOND)
    });
    breaker.transition_to(State::Open).unwrap();
    breaker.transition_to(State::HalfOpen).unwrap();
    hand.advance(SECOND);
    breaker.try_acquire().unwrap().failure();
    assert_eq!((breaker.state(), breaker.metrics().failed_calls), (State::Closed, 1));
}

#[test]
fn a_call_that_found_the_breaker_open_and_then_disabled_is_not_counted() {
    let (breaker, _hand) = breaker(|config| config);
    breaker.transition_to(State::Disabled).unwrap();
    let now = breaker.clock().now();
    // The way of a call that looked before somebody disabled the breaker.
    let admission = breaker.begin_by_lock(now).unwrap();
    breaker.end(admission, Report::new(Outcome::Failure), now);
    assert_eq!(breaker.metrics().totals.failed, 0);
}

#[test]
fn an_answer_that_asks_for_peace_opens_the_breaker() {
    let (breaker, hand) = breaker(|config| config);
    let admission = breaker.begin(breaker.clock().now()).unwrap();
    let report = Report { open_for: Some(5 * SECOND), ..Report::new(Outcome::Ignored) };
    breaker.end(admission, report, breaker.clock().now());
    hand.advance(2 * SECOND);
    let refusal = breaker.try_acquire().unwrap_err();
    assert_eq!(refusal.retry_after(), Some(3 * SECOND));
}

#[tokio::test]
async fn an_automatic_transition_is_told_at_its_time_without_a_call() {
    let (breaker, hand) = automatic();
    let heard = heard(&breaker);
    breaker.transition_to(State::Open).unwrap();
    give_tasks_a_turn().await;
    hand.advance(SECOND);
    give_tasks_a_turn().await;
    assert_eq!(types(&heard), ["STATE_TRANSITION"; 2]);
    assert_eq!(heard.lock()[1].at, 1_001_000_000_000);
}

#[test]
fn without_a_runtime_the_change_is_told_late_with_the_right_time() {
    let (breaker, hand) = automatic();
    let heard = heard(&breaker);
    breaker.transition_to(State::Open).unwrap();
    hand.advance(5 * SECOND);
    assert_eq!(breaker.state(), State::HalfOpen);
    assert_eq!(types(&heard), ["STATE_TRANSITION"]);
    drop(breaker.try_acquire().unwrap());
    assert_eq!(heard.lock()[1].at, 1_001_000_000_000);
}

#[test]
fn what_time_has_brought_about_is_told_before_the_call_that_finds_it() {
    let (breaker, hand) = automatic();
    breaker.transition_to(State::Open).unwrap();
    let heard = heard(&breaker);
    hand.advance(SECOND);
    breaker.on_success(SECOND);
    assert_eq!(types(&heard), ["STATE_TRANSITION", "SUCCESS"]);
}

#[tokio::test]
async fn a_breaker_has_one_task_at_most_and_none_without_a_timer() {
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let (breaker, _hand) = automatic();
    assert_eq!(tasks(), 0);
    for _ in 0..10 {
        breaker.transition_to(State::Open).unwrap();
        assert_eq!(tasks(), 1);
    }
    give_tasks_a_turn().await;
    breaker.reset();
    give_tasks_a_turn().await;
    assert_eq!(tasks(), 0);
    breaker.transition_to(State::Open).unwrap();
    assert_eq!(tasks(), 1);
}

#[tokio::test]
async fn a_listener_that_opens_the_breaker_anew_gets_it_another_timer() {
    let (breaker, hand) = automatic();
    let heard = heard(&breaker);
    let twin = breaker.clone();
    let _subscription = breaker.events().subscribe(move |event| {
        if let CircuitBreakerEventKind::StateTransition { to: State::HalfOpen, .. } = event.kind {
            twin.transition_to(State::Open).unwrap();
        }
    });
    breaker.transition_to(State::Open).unwrap();
    for cycle in 1..=3 {
        give_tasks_a_turn().await;
        hand.advance(SECOND);
        give_tasks_a_turn().await;
        assert_eq!(heard.lock().len(), 1 + 2 * cycle);
    }
}

#[tokio::test]
async fn the_task_keeps_no_breaker_alive_and_goes_with_it() {
    let (breaker, _hand) = automatic();
    breaker.transition_to(State::Open).unwrap();
    give_tasks_a_turn().await;
    assert_eq!(Arc::strong_count(&breaker.shared), 1);
    drop(breaker);
    give_tasks_a_turn().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[tokio::test]
async fn a_breaker_that_starts_open_has_its_timer_too() {
    let (breaker, hand) = breaker(|config| {
        config.initial_state(State::Open).automatic_transition_from_open_to_half_open_enabled(true)
    });
    let heard = heard(&breaker);
    give_tasks_a_turn().await;
    hand.advance(SECOND);
    give_tasks_a_turn().await;
    assert_eq!(types(&heard), ["STATE_TRANSITION"]);
}

#[test]
fn a_reload_changes_how_many_events_are_kept() {
    let (breaker, _hand) = breaker(|config| config);
    for _ in 0..3 {
        breaker.reset();
    }
    let smaller = CircuitBreakerConfig::builder().event_consumer_buffer_size(2).build().unwrap();
    breaker.reconfigure(smaller);
    assert_eq!(breaker.events().recent().len(), 2);
}

#[tokio::test]
async fn a_timer_follows_a_reload_of_the_settings() {
    let (breaker, hand) = breaker(|config| config);
    let heard = heard(&breaker);
    breaker.transition_to(State::Open).unwrap();
    hand.advance(SECOND / 2);
    breaker.reconfigure(CircuitBreakerConfig::clone(&automatic().0.config()));
    give_tasks_a_turn().await;
    hand.advance(SECOND / 2);
    give_tasks_a_turn().await;
    assert_eq!(types(&heard), ["STATE_TRANSITION"; 2]);
}

#[tokio::test]
async fn a_reload_that_makes_a_change_of_state_due_is_told_without_a_call() {
    let (breaker, hand) = breaker(|config| config);
    let heard = heard(&breaker);
    breaker.transition_to(State::Open).unwrap();
    hand.advance(SECOND);
    breaker.reconfigure(CircuitBreakerConfig::clone(&automatic().0.config()));
    give_tasks_a_turn().await;
    assert_eq!(types(&heard), ["STATE_TRANSITION"; 2]);
}

#[tokio::test]
async fn a_reload_without_automatic_transition_sends_the_task_home() {
    let (twin, _hand) = breaker(|config| config);
    let (breaker, _hand) = automatic();
    breaker.transition_to(State::Open).unwrap();
    give_tasks_a_turn().await;
    breaker.reconfigure(CircuitBreakerConfig::clone(&twin.config()));
    give_tasks_a_turn().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[test]
fn a_runtime_without_time_gets_no_timer_and_hears_of_it_once() {
    let me = std::thread::current().id();
    let panics = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&panics);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == me {
            counter.fetch_add(1, Ordering::Relaxed);
        } else {
            hook(info);
        }
    }));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for name in ["a", "b"] {
            let config = automatic().0.config();
            let breaker = CircuitBreaker::new(name, CircuitBreakerConfig::clone(&config));
            for _ in 0..3 {
                breaker.transition_to(State::Open).unwrap();
                give_tasks_a_turn().await;
                breaker.reset();
            }
        }
        let (breaker, hand) = automatic();
        let heard = heard(&breaker);
        breaker.transition_to(State::Open).unwrap();
        give_tasks_a_turn().await;
        hand.advance(SECOND);
        give_tasks_a_turn().await;
        assert_eq!(types(&heard), ["STATE_TRANSITION"; 2], "a clock by hand needs no timers");
    });
    assert_eq!(panics.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_call_counts_as_the_lists_say_and_as_in_a_stack() {
    let lists = |record: &'static [&'static str], ignore: &'static [&'static str]| {
        move |config: crate::circuit_breaker::CircuitBreakerConfigBuilder| {
            config.record_errors(record.iter().copied()).ignore_errors(ignore.iter().copied())
        }
    };
    let fails = || async { Err::<(), _>(std::io::Error::from(std::io::ErrorKind::TimedOut)) };
    let rules = [Rules::new(), Rules::new().kinds(), Rules::new().record(|_| false)];
    for (record, ignore) in [(&[][..], &[][..]), (&["io"], &[]), (&["other"], &[]), (&[], &["io"])]
    {
        for rules in &rules {
            let (alone, _hand) = breaker(lists(record, ignore));
            let (stacked, _hand) = breaker(lists(record, ignore));
            alone.call_by(rules, fails()).await.unwrap_err();
            let stack = crate::Stack::builder().circuit_breaker(stacked.clone()).build();
            stack.call_by(rules, fails).await.unwrap_err();
            assert_eq!(alone.metrics(), stacked.metrics());
        }
    }
    let (breaker, _hand) = breaker(lists(&[], &["io"]));
    breaker.call_by(&rules[1], fails()).await.unwrap_err();
    assert_eq!(breaker.metrics().totals.ignored, 1);
}

#[tokio::test]
async fn a_call_without_rules_is_not_on_a_record_list() {
    let (breaker, _hand) = breaker(|config| config.record_errors(["io"]));
    breaker.call(async { Err::<(), _>("something else") }).await.unwrap_err();
    breaker.on_error(SECOND, &[]);
    assert_eq!(breaker.metrics().totals.successful, 2);
}

#[test]
fn handles_go_anywhere() {
    fn goes_anywhere<T: Clone + fmt::Debug + Send + Sync + 'static>(_: &T) {}
    let (breaker, _hand) = breaker(|config| config);
    goes_anywhere(&breaker);
    assert_eq!(format!("{breaker:?}"), r#"CircuitBreaker { name: "b", state: Closed, .. }"#);
}

#[cfg(feature = "tracing")]
mod logged {
    use tracing::Level;

    use super::*;
    use crate::test_support::capture::Capture;

    /// How loudly each was logged and, of a change of state, into which one.
    fn logged(capture: &Capture) -> Vec<(Level, String)> {
        let logs = capture.logs().into_iter();
        logs.map(|log| (log.level, log.fields.get("to").to_owned())).collect()
    }

    #[test]
    fn opening_is_warned_of_and_other_changes_of_state_are_logged() {
        let (capture, _guard) = Capture::start();
        let (breaker, _hand) = breaker(|config| config);
        for state in [State::Open, State::HalfOpen, State::Closed] {
            breaker.transition_to(state).unwrap();
        }
        let changes = [
            (Level::WARN, "OPEN".to_owned()),
            (Level::INFO, "HALF_OPEN".to_owned()),
            (Level::INFO, "CLOSED".to_owned()),
        ];
        assert_eq!(logged(&capture), changes);
    }

    #[tokio::test]
    async fn a_record_list_that_cannot_name_an_error_is_warned_of_once() {
        let (capture, _guard) = Capture::start();
        let (listed, _) = breaker(|config| config.record_errors(["io"]));
        for _ in 0..3 {
            assert!(listed.call(async { Err::<(), _>("an error without kinds") }).await.is_err());
        }
        assert_eq!(logged(&capture), [(Level::WARN, String::new())]);

        let (by_rule, _) = breaker(|config| config.record_errors(["io"]));
        let rules = Rules::new().record(|_: &&str| false);
        assert!(by_rule.call_by(&rules, async { Err::<(), _>("left out") }).await.is_err());
        assert_eq!(capture.logs().len(), 1, "a rule has decided");
    }
}

#[test]
fn without_the_rule_no_call_is_slow() {
    let slow = |timed| {
        let (breaker, hand) = breaker(|config| {
            let config = config.sliding_window_size(2).slow_call_rate_enabled(timed);
            config.slow_call_duration_threshold(Duration::from_millis(1))
        });
        for _ in 0..5 {
            if let Ok(permit) = breaker.try_acquire() {
                hand.advance(SECOND);
                permit.success();
            }
            let _ = breaker.call_blocking(|| {
                hand.advance(SECOND);
                Ok::<_, ()>(())
            });
        }
        (breaker.metrics().totals.slow > 0, breaker.state())
    };
    assert_eq!(slow(false), (false, State::Closed));
    assert_eq!(slow(true), (true, State::Open));
}

#[test]
fn calls_of_a_calm_breaker_that_times_none_are_counted() {
    let (breaker, _hand) = breaker(|config| {
        config.sliding_window_size(2).slow_call_rate_enabled(false).failure_rate_threshold(50.0)
    });
    for calls in 1..=5 {
        assert_eq!(breaker.call_blocking(|| Ok::<_, ()>(())), Ok(()));
        assert_eq!(breaker.metrics().totals.successful, calls);
    }
    assert_eq!(breaker.metrics().buffered_calls, 2);
    assert!(breaker.call_blocking(|| Err::<(), _>(())).is_err());
    assert_eq!((breaker.metrics().totals.failed, breaker.state()), (1, State::Open));
}

#[test]
fn after_a_lower_threshold_the_next_success_shows_that_it_is_exceeded() {
    for initial in [State::Closed, State::MetricsOnly] {
        let config = |threshold| {
            let config = CircuitBreakerConfig::builder()
                .sliding_window_size(10)
                .initial_state(initial)
                .failure_rate_threshold(threshold);
            config.build().unwrap()
        };
        let breaker = CircuitBreaker::new("b", config(60.0));
        for ok in [false, true, false, true, false, true, false, true, false, true, true] {
            let _ = breaker.call_blocking(|| if ok { Ok(()) } else { Err(()) });
        }
        drop(breaker.reconfigure(config(20.0)));
        breaker.call_blocking(|| Ok::<_, ()>(())).unwrap();
        let opens = initial == State::Closed;
        assert_eq!(breaker.state() == State::Open, opens, "{initial}");
        assert!(breaker.metrics().failure_rate >= 20.0);
    }
}

#[test]
fn a_call_holds_nothing_once_it_has_ended() {
    struct Body {
        _owned: Arc<()>,
        end: Option<Result<(), ()>>,
    }

    impl std::future::Future for Body {
        type Output = Result<(), ()>;

        fn poll(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> Poll<Self::Output> {
            Poll::Ready(self.end.expect("a panic of the body"))
        }
    }

    let owned = Arc::new(());
    let body = |end| Body { _owned: Arc::clone(&owned), end };
    let (breaker, _hand) = breaker(|config| config.sliding_window_size(10));
    let mut call = pin!(breaker.call(body(Some(Ok(())))));
    assert!(poll(call.as_mut()).is_ready());
    assert_eq!(Arc::strong_count(&owned), 1);
    assert!(catch_unwind(AssertUnwindSafe(|| poll(call.as_mut()))).is_err(), "it has ended");
    let mut call = pin!(breaker.call(body(None)));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(call.as_mut()))).is_err());
    assert_eq!(breaker.metrics().failed_calls, 1, "a panic is told at once");
    breaker.transition_to(State::ForcedOpen).unwrap();
    let mut refused = pin!(breaker.call(body(Some(Ok(())))));
    let held = Arc::strong_count(&owned);
    assert!(poll(refused.as_mut()).is_ready());
    assert_eq!(Arc::strong_count(&owned), held - 1);

    let bulkhead = crate::Bulkhead::new("b", crate::BulkheadConfig::default());
    let mut call = pin!(bulkhead.call(body(None)));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(call.as_mut()))).is_err());
    assert_eq!(bulkhead.available_concurrent_calls(), bulkhead.max_concurrent_calls());
    let limiter = crate::TimeLimiter::new("t", crate::TimeLimiterConfig::default());
    let held = Arc::strong_count(&owned);
    let mut call = pin!(limiter.call(body(Some(Ok(())))));
    assert!(poll(call.as_mut()).is_ready());
    assert_eq!(Arc::strong_count(&owned), held);
}
