//! What annotated functions do at run time.

#![allow(clippy::unwrap_used)] // helpers of tests

// The attributes ask for the signatures of predicates and fallbacks.
#![allow(
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps
)]

use std::{
    cell::Cell,
    future::{Future, pending},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Waker},
    time::Duration,
};

use resilience::{
    CallError, CallNotPermitted, CircuitBreaker, Config, Error, ErrorKind, Resilience, TimedOut,
    bulkhead, circuit_breaker, circuit_breaker::State, config::Format, rate_limiter, retry,
    time_limiter,
};
use tokio::time::Instant;

#[derive(Debug, Clone, thiserror::Error, ErrorKind)]
enum Failure {
    #[error("out of stock")]
    #[error_kind("http_4xx")]
    OutOfStock,
    #[error("down")]
    Down,
    #[error(transparent)]
    Refused(#[from] Error),
}

type Outcome<T = u32> = Result<T, Failure>;

const SECOND: Duration = Duration::from_secs(1);

fn registry(yaml: &str) -> Resilience {
    let config = Config::builder().env(false).text(yaml, Format::Yaml).load().unwrap();
    Resilience::from_config(config).unwrap()
}

/// An argument that counts its clones.
#[derive(Debug, Default)]
struct Card(Arc<AtomicU32>);

impl Clone for Card {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

impl Card {
    fn new() -> (Self, Arc<AtomicU32>) {
        let card = Self::default();
        let clones = Arc::clone(&card.0);
        (card, clones)
    }
}

fn count(counter: &AtomicU32) -> u32 {
    counter.load(Ordering::Relaxed)
}

// Fallbacks.

#[time_limiter(name = "hang")]
#[circuit_breaker(name = "hang", fallback = hang_answer)]
async fn hangs(bodies: &AtomicU32) -> Outcome {
    bodies.fetch_add(1, Ordering::Relaxed);
    pending().await
}

fn hang_answer(_: &AtomicU32, error: CallError<Failure>) -> Outcome {
    match error {
        CallError::Resilience(Error::TimedOut(_)) => Ok(1),
        CallError::Resilience(Error::CallNotPermitted(_)) => Ok(2),
        other => Err(other.into_error()),
    }
}

#[tokio::test(start_paused = true)]
async fn h01_a_fallback_never_hides_a_timeout_from_the_breaker() {
    let registry = registry(
        "circuitbreaker.instances.hang: { sliding_window_size: 4, minimum_number_of_calls: 4 }",
    );
    let bodies = AtomicU32::new(0);
    registry
        .scope(async {
            for _ in 0..4 {
                assert_eq!(hangs(&bodies).await.unwrap(), 1);
            }
            assert_eq!(registry.circuit_breaker("hang").state(), State::Open);
            assert_eq!(hangs(&bodies).await.unwrap(), 2);
        })
        .await;
    assert_eq!(count(&bodies), 4);
}

mod losing {
    #![expect(deprecated, reason = "the time limiter's fallback is not wired in")]

    use super::*;

    #[time_limiter(name = "hang", fallback = on_timeout)]
    #[circuit_breaker(name = "hang", fallback = on_anything)]
    pub(super) async fn both_carry_one() -> Outcome {
        pending().await
    }

    async fn on_anything(_: Error) -> Outcome {
        Ok(1)
    }

    #[expect(dead_code, reason = "nobody calls it")]
    fn on_timeout(_: TimedOut) -> Outcome {
        Ok(2)
    }
}

#[tokio::test(start_paused = true)]
async fn h01_of_two_fallbacks_the_one_on_the_outermost_attribute_answers_and_the_breaker_opens() {
    let registry = registry(
        "circuitbreaker.instances.hang: { sliding_window_size: 2, minimum_number_of_calls: 2 }",
    );
    registry
        .scope(async {
            for _ in 0..3 {
                assert_eq!(losing::both_carry_one().await.unwrap(), 1);
            }
        })
        .await;
    assert_eq!(registry.circuit_breaker("hang").state(), State::Open);
}

#[retry(name = "typed", wait_duration = "0ms", fallback = [on_open, on_timeout, on_business])]
#[circuit_breaker(name = "typed")]
#[time_limiter(name = "typed")]
async fn typed(hang: bool) -> Outcome {
    if hang { pending().await } else { Err(Failure::Down) }
}

fn on_open(_: CallNotPermitted) -> Outcome {
    Ok(1)
}

async fn on_timeout(_: bool, _: TimedOut) -> Outcome {
    Ok(2)
}

fn on_business(error: Failure) -> Outcome {
    assert!(matches!(error, Failure::Down));
    Ok(3)
}

#[tokio::test(start_paused = true)]
async fn the_first_fallback_whose_type_fits_answers() {
    let registry = registry("circuitbreaker.instances.typed: {}");
    registry
        .scope(async {
            assert_eq!(typed(true).await.unwrap(), 2);
            assert_eq!(typed(false).await.unwrap(), 3);
            registry.circuit_breaker("typed").transition_to(State::ForcedOpen).unwrap();
            assert_eq!(typed(false).await.unwrap(), 1);
        })
        .await;
}

#[retry(name = "inside", max_attempts = 3, wait_duration = "1s")]
#[circuit_breaker(name = "inside", fallback = nothing_left)]
async fn fallback_inside(calls: &AtomicU32) -> Outcome {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(Failure::Down)
}

fn nothing_left(_: Failure) -> Outcome {
    Ok(7)
}

#[tokio::test(start_paused = true)]
async fn h01_a_fallback_at_an_inner_attribute_answers_after_the_last_attempt() {
    let (registry, calls) = (registry("{}"), AtomicU32::new(0));
    assert_eq!(registry.scope(fallback_inside(&calls)).await.unwrap(), 7);
    assert_eq!(count(&calls), 3);
    assert_eq!(registry.circuit_breaker("inside").metrics().failed_calls, 3);
}

/// One function per type of error that a fallback may take.
macro_rules! handles {
    ($($name:ident: $error:ty;)*) => {
        $(
            #[circuit_breaker(name = "handles", ignore = is_out_of_stock, fallback = answers::$name)]
            async fn $name(error: Failure) -> Outcome {
                Err(error)
            }
        )*

        mod answers {
            use super::*;

            $(pub(super) fn $name(_: Failure, _: $error) -> Outcome {
                Ok(1)
            })*
        }
    };
}

handles! {
    everything: CallError<Failure>;
    refusals: Error;
    business: Failure;
}

#[tokio::test(start_paused = true)]
async fn h02_the_type_of_the_error_decides_whether_a_fallback_takes_ignored_errors() {
    let registry = registry("{}");
    registry
        .scope(async {
            for error in [Failure::OutOfStock, Failure::Down] {
                assert!(everything(error.clone()).await.is_ok(), "{error}");
                assert!(refusals(error.clone()).await.is_err(), "{error}");
                assert!(business(error.clone()).await.is_ok(), "{error}");
            }
            registry.circuit_breaker("handles").transition_to(State::ForcedOpen).unwrap();
            assert!(everything(Failure::Down).await.is_ok());
            assert!(refusals(Failure::Down).await.is_ok());
            assert!(business(Failure::Down).await.is_err());
        })
        .await;
    let totals = registry.circuit_breaker("handles").metrics().totals;
    assert_eq!((totals.ignored, totals.failed, totals.not_permitted), (3, 3, 3));
}

#[circuit_breaker(name = "context", fallback = tells)]
#[rate_limiter(name = "context", limit_for_period = 3, timeout_duration = "0ms")]
#[time_limiter(name = "context", timeout_duration = "1s")]
#[bulkhead(name = "context", max_concurrent_calls = 1)]
async fn in_context(_order: u32, hang: bool) -> Outcome<String> {
    if hang { pending().await } else { Err(Failure::Down) }
}

fn tells(order: u32, _: bool, error: CallError<Failure>) -> Outcome<String> {
    let why = error.resilience().map_or("inner", Error::kind);
    Ok(format!("{order} {why}"))
}

#[tokio::test(start_paused = true)]
async fn h05_a_fallback_learns_the_arguments_and_what_kind_of_error_it_was() {
    let registry = registry(
        "ratelimiter.instances.context: { limit_refresh_period: 1h }\n\
         bulkhead.instances.context: { max_wait_duration: 0ms }",
    );
    registry
        .scope(async {
            assert_eq!(in_context(1, false).await.unwrap(), "1 inner");
            assert_eq!(in_context(2, true).await.unwrap(), "2 timeout");
            let held = registry.bulkhead("context").try_acquire().unwrap();
            assert_eq!(in_context(3, false).await.unwrap(), "3 bulkhead_full");
            drop(held);
            assert_eq!(in_context(4, false).await.unwrap(), "4 request_not_permitted");
            registry.circuit_breaker("context").transition_to(State::ForcedOpen).unwrap();
            assert_eq!(in_context(5, false).await.unwrap(), "5 call_not_permitted");
        })
        .await;
}

#[time_limiter(name = "only", fallback = on_open)]
async fn only_open_is_handled() -> Outcome {
    pending().await
}

#[tokio::test(start_paused = true)]
async fn l10_what_no_fallback_handles_is_returned_as_it_was() {
    let registry = registry("{}");
    let result = registry.scope(only_open_is_handled()).await;
    assert!(matches!(result, Err(Failure::Refused(Error::TimedOut(_)))), "{result:?}");
}

#[circuit_breaker(name = "same", fallback = answers_refusals)]
async fn own_error_is_the_librarys(inner: Error) -> Result<u32, Error> {
    Err(inner)
}

fn answers_refusals(_: Error) -> Result<u32, Error> {
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn with_the_librarys_error_as_e_a_fallback_that_takes_it_handles_this_stacks_refusals() {
    let registry = registry("{}");
    let timeout = match registry.scope(only_open_is_handled()).await {
        Err(Failure::Refused(timeout)) => timeout,
        other => panic!("{other:?}"),
    };
    registry
        .scope(async {
            assert_eq!(own_error_is_the_librarys(timeout.clone()).await, Err(timeout.clone()));
            registry.circuit_breaker("same").transition_to(State::ForcedOpen).unwrap();
            assert_eq!(own_error_is_the_librarys(timeout.clone()).await, Ok(1));
        })
        .await;
}

// Arguments.

#[retry(name = "card", max_attempts = 3, wait_duration = "0ms")]
#[circuit_breaker(name = "card")]
async fn pay(card: Card) -> Outcome {
    drop(card);
    Err(Failure::Down)
}

#[tokio::test(start_paused = true)]
async fn a_retry_clones_arguments_for_every_attempt_but_the_last_possible_one() {
    let (card, clones) = Card::new();
    registry("{}").scope(pay(card)).await.unwrap_err();
    assert_eq!(count(&clones), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_clones_nothing() {
    let registry = registry("{}");
    registry.circuit_breaker("card").transition_to(State::ForcedOpen).unwrap();
    let (card, clones) = Card::new();
    registry.scope(pay(card)).await.unwrap_err();
    assert_eq!(count(&clones), 0);
}

#[retry(name = "card", max_attempts = 3, wait_duration = "0ms", fallback = pay_later)]
async fn pay_or_later(card: Card) -> Outcome {
    drop(card);
    Err(Failure::Down)
}

fn pay_later(_: Card, _: CallError<Failure>) -> Outcome {
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_takes_the_arguments_costs_one_clone_per_attempt() {
    let (card, clones) = Card::new();
    registry("{}").scope(pay_or_later(card)).await.unwrap();
    assert_eq!(count(&clones), 3);
}

#[circuit_breaker(name = "card", fallback = error_alone)]
async fn pay_or_nothing(card: Card) -> Outcome {
    drop(card);
    Err(Failure::Down)
}

fn error_alone(_: CallError<Failure>) -> Outcome {
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_takes_the_error_alone_clones_nothing() {
    let (card, clones) = Card::new();
    registry("{}").scope(pay_or_nothing(card)).await.unwrap();
    assert_eq!(count(&clones), 0);
}

// Names and settings.

#[retry(max_attempts = 5, wait_duration = "10ms")]
async fn named_after_the_function(calls: &AtomicU32) -> Outcome {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(Failure::Down)
}

#[tokio::test(start_paused = true)]
async fn an_omitted_name_is_the_functions_and_inline_settings_apply() {
    let (registry, calls, start) = (registry("{}"), AtomicU32::new(0), Instant::now());
    registry.scope(named_after_the_function(&calls)).await.unwrap_err();
    assert_eq!(count(&calls), 5);
    assert_eq!(start.elapsed(), Duration::from_millis(40));
    assert!(registry.find_retry("named_after_the_function").is_some());
}

#[tokio::test(start_paused = true)]
async fn the_file_overrides_inline_settings() {
    let registry = registry("retry.instances.named_after_the_function: { max_attempts: 2 }");
    let calls = AtomicU32::new(0);
    registry.scope(named_after_the_function(&calls)).await.unwrap_err();
    assert_eq!(count(&calls), 2);
}

#[circuit_breaker(name = "shared")]
async fn generic<T>(value: T) -> Outcome<T> {
    Ok(value)
}

#[tokio::test(start_paused = true)]
async fn instances_do_not_fork_across_the_types_of_a_generic_function() {
    let registry = registry("{}");
    registry
        .scope(async {
            generic(1).await.unwrap();
            generic("text").await.unwrap();
        })
        .await;
    assert_eq!(registry.circuit_breaker("shared").metrics().buffered_calls, 2);
}

#[rate_limiter(name = "rl", permits = 3, limit_for_period = 7, limit_refresh_period = "1h")]
async fn three_permits() -> Outcome<()> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_call_takes_as_many_permits_as_the_attribute_says() {
    let registry = registry("{}");
    registry.scope(three_permits()).await.unwrap();
    assert_eq!(registry.rate_limiter("rl").available_permissions(), 4);
}

// Predicates and kinds.

#[retry(
    name = "predicates",
    max_attempts = 3,
    wait_duration = "1ms",
    retry_if = is_down,
    retry_result = is_zero,
    retry_after = wait_a_second
)]
#[circuit_breaker(name = "predicates", ignore = is_out_of_stock, record_result = is_zero)]
async fn predicates(calls: &AtomicU32, answer: Outcome) -> Outcome {
    calls.fetch_add(1, Ordering::Relaxed);
    answer
}

fn is_down(error: &Failure) -> bool {
    matches!(error, Failure::Down)
}

fn is_out_of_stock(error: &Failure) -> bool {
    matches!(error, Failure::OutOfStock)
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn wait_a_second(_: &Failure) -> Option<Duration> {
    Some(SECOND)
}

async fn after(answer: Outcome) -> (u32, Duration, Resilience) {
    let (registry, calls, start) = (registry("{}"), AtomicU32::new(0), Instant::now());
    let _ = registry.scope(predicates(&calls, answer)).await;
    (count(&calls), start.elapsed(), registry)
}

#[tokio::test(start_paused = true)]
async fn retry_if_and_retry_after_decide_about_errors() {
    let (calls, elapsed, _) = after(Err(Failure::Down)).await;
    assert_eq!((calls, elapsed), (3, 2 * SECOND));
    let (calls, _, registry) = after(Err(Failure::OutOfStock)).await;
    assert_eq!(calls, 1);
    assert_eq!(registry.circuit_breaker("predicates").metrics().buffered_calls, 0);
}

#[tokio::test(start_paused = true)]
async fn result_predicates_see_the_value() {
    let (calls, _, registry) = after(Ok(0)).await;
    assert_eq!(calls, 3);
    assert_eq!(registry.circuit_breaker("predicates").metrics().failed_calls, 3);
    assert_eq!(after(Ok(1)).await.0, 1);
}

#[retry(name = "kinds")]
async fn kinds(calls: &AtomicU32, error: Failure) -> Outcome {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(error)
}

#[tokio::test(start_paused = true)]
async fn configured_lists_know_the_derived_kinds_and_groups() {
    for list in ["out_of_stock", "http_4xx"] {
        let registry = registry(&format!("retry.instances.kinds: {{ ignore_errors: [{list}] }}"));
        let calls = AtomicU32::new(0);
        registry.scope(kinds(&calls, Failure::OutOfStock)).await.unwrap_err();
        assert_eq!(count(&calls), 1, "{list}");
        registry.scope(kinds(&calls, Failure::Down)).await.unwrap_err();
        assert_eq!(count(&calls), 4, "{list}");
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a source is enough")]
struct Underived(#[from] Error);

/// An error that carries a refusal as `$field`, which its derive alone has to find.
macro_rules! carries {
    ($name:ident($field:ty), $from:ident => $value:expr) => {
        #[derive(ErrorKind)]
        struct $name($field);

        impl From<Error> for $name {
            fn from($from: Error) -> Self {
                Self($value)
            }
        }
    };
}

fn struct_of(error: Error) -> CallNotPermitted {
    match error {
        Error::CallNotPermitted(open) => open,
        other => panic!("{other}"),
    }
}

type Boxed = Box<dyn std::error::Error + Send + Sync>;

carries!(Struct(CallNotPermitted), error => struct_of(error));
carries!(BoxedStruct(Box<CallNotPermitted>), error => Box::new(struct_of(error)));
carries!(SharedError(Arc<Error>), error => Arc::new(error));
carries!(Optional(Option<Error>), error => Some(error));
carries!(OptionalBox(Option<Box<CallNotPermitted>>), error => Some(Box::new(struct_of(error))));
carries!(Called(CallError<String>), error => error.into());
carries!(CalledBoxed(CallError<Boxed>), error => CallError::Inner(error.into()));
carries!(BoxedCalled(Box<CallError<u8>>), error => Box::new(error.into()));
carries!(SharedObject(Arc<dyn std::error::Error + Send + Sync>), error => Arc::new(error));
carries!(Io(std::io::Error), error => std::io::Error::other(error));
carries!(Derived(Option<Arc<Struct>>), error => Some(Arc::new(error.into())));

/// An error that carries a refusal as its source, and has no derive.
macro_rules! has_source {
    ($name:ident($($source:tt)*), $from:ident => $value:expr) => {
        #[derive(Debug, thiserror::Error)]
        #[error("a source is enough")]
        struct $name(#[source] $($source)*);

        impl From<Error> for $name {
            fn from($from: Error) -> Self {
                Self($value)
            }
        }
    };
}

has_source!(StructBelow(CallNotPermitted), error => struct_of(error));
has_source!(BoxBelow(Box<CallNotPermitted>), error => Box::new(struct_of(error)));
has_source!(SharedBelow(Arc<Error>), error => Arc::new(error));
has_source!(OptionBelow(Option<Box<Error>>), error => Some(Box::new(error)));
has_source!(CalledBelow(CallError<Error>), error => CallError::Inner(error));
has_source!(ObjectBelow(Arc<dyn std::error::Error + Send + Sync>), error => Arc::new(error));

macro_rules! nested {
    ($($outer:ident: $error:ty,)*) => {
        $(
            #[retry(name = "outer")]
            async fn $outer(calls: &AtomicU32) -> Result<u32, $error> {
                #[circuit_breaker(name = "inner")]
                async fn inner() -> Result<u32, $error> {
                    Ok(1)
                }

                calls.fetch_add(1, Ordering::Relaxed);
                inner().await
            }
        )*

        #[tokio::test(start_paused = true)]
        async fn an_open_inner_breaker_is_not_retried_in_whatever_shape_its_refusal_comes() {
            let registry = registry("{}");
            registry.circuit_breaker("inner").transition_to(State::ForcedOpen).unwrap();
            registry
                .scope(async {
                    $(
                        let calls = AtomicU32::new(0);
                        assert!($outer(&calls).await.is_err());
                        assert_eq!(count(&calls), 1, stringify!($error));
                    )*
                })
                .await;
        }
    };
}

nested! {
    derived: Failure,
    underived: Underived,
    object: Boxed,
    plain: Error,
    call_error: CallError<Failure>,
    call_error_of_anything: CallError<String>,
    call_error_of_object: CallError<Boxed>,
    in_a_struct: Struct,
    in_a_boxed_struct: BoxedStruct,
    in_a_shared_error: SharedError,
    in_an_option: Optional,
    in_an_optional_box: OptionalBox,
    in_a_call_error: Called,
    in_an_object_in_a_call_error: CalledBoxed,
    in_a_boxed_call_error: BoxedCalled,
    in_a_shared_object: SharedObject,
    in_an_io_error: Io,
    in_a_shared_derived_error: Derived,
    below_a_struct: StructBelow,
    below_a_box: BoxBelow,
    below_an_arc: SharedBelow,
    below_an_option: OptionBelow,
    below_a_call_error: CalledBelow,
    below_a_shared_object: ObjectBelow,
}

impl From<CallNotPermitted> for Struct {
    fn from(open: CallNotPermitted) -> Self {
        Self(open)
    }
}

#[retry(name = "by_hand")]
async fn by_hand(calls: &AtomicU32, breaker: &CircuitBreaker) -> Result<u32, Struct> {
    calls.fetch_add(1, Ordering::Relaxed);
    breaker.try_acquire()?.success();
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_an_open_breaker_refuses_by_hand_is_not_asked_for_again() {
    let (registry, calls) = (registry("{}"), AtomicU32::new(0));
    let breaker = registry.circuit_breaker("inner");
    breaker.transition_to(State::ForcedOpen).unwrap();
    assert!(registry.scope(by_hand(&calls, &breaker)).await.is_err());
    assert_eq!(count(&calls), 1);
}

#[circuit_breaker(name = "inner")]
async fn inner_derived() -> Outcome {
    Ok(1)
}

#[retry(name = "lists", wait_duration = "0ms")]
#[circuit_breaker(name = "lists")]
async fn lists(calls: &AtomicU32) -> Outcome {
    calls.fetch_add(1, Ordering::Relaxed);
    inner_derived().await
}

#[tokio::test(start_paused = true)]
async fn configured_lists_know_a_nested_refusal_by_its_own_kind_and_by_its_variants() {
    for kind in ["call_not_permitted", "refused"] {
        let registry = registry(&format!(
            "retry.instances.lists: {{ retry_errors: [{kind}] }}\n\
             circuitbreaker.instances.lists: {{ ignore_errors: [{kind}] }}"
        ));
        registry.circuit_breaker("inner").transition_to(State::ForcedOpen).unwrap();
        let calls = AtomicU32::new(0);
        registry.scope(lists(&calls)).await.unwrap_err();
        assert_eq!(registry.circuit_breaker("lists").metrics().buffered_calls, 0, "{kind}");
        assert_eq!(count(&calls), 3, "{kind}");
    }
}

// Panics, cancellation, other threads.

#[retry(name = "panics")]
#[circuit_breaker(name = "panics")]
async fn panics(calls: Arc<AtomicU32>) -> Outcome {
    calls.fetch_add(1, Ordering::Relaxed);
    panic!("as told")
}

#[tokio::test(start_paused = true)]
async fn l06_a_panic_is_one_failure_and_is_not_retried() {
    let (registry, calls) = (registry("{}"), Arc::new(AtomicU32::new(0)));
    let joined = registry.spawn(panics(Arc::clone(&calls))).await;
    assert!(joined.unwrap_err().is_panic());
    assert_eq!(count(&calls), 1);
    assert_eq!(registry.circuit_breaker("panics").metrics().failed_calls, 1);
}

#[retry(name = "all", wait_duration = "1ms")]
#[circuit_breaker(name = "all")]
#[rate_limiter(name = "all", limit_for_period = 1, limit_refresh_period = "10ms")]
#[time_limiter(name = "all", timeout_duration = "1h")]
#[bulkhead(name = "all", max_concurrent_calls = 1)]
async fn all_layers(yields: u32) -> Outcome<()> {
    for _ in 0..yields {
        tokio::task::yield_now().await;
    }
    Err(Failure::Down)
}

#[tokio::test(start_paused = true)]
async fn l05_a_call_dropped_at_any_await_leaves_every_gauge_idle() {
    for polls in 0..20 {
        let registry = registry("{}");
        {
            let mut call = pin!(registry.scope(all_layers(3)));
            let mut cx = Context::from_waker(Waker::noop());
            for _ in 0..polls {
                let _ = call.as_mut().poll(&mut cx);
                tokio::time::advance(Duration::from_millis(1)).await;
            }
        }
        assert_eq!(registry.bulkhead("all").available_concurrent_calls(), 1, "{polls} polls");
        assert_eq!(registry.bulkhead("all").waiting(), 0, "{polls} polls");
        assert_eq!(registry.rate_limiter("all").waiting(), 0, "{polls} polls");
    }
}

#[time_limiter(name = "detached", detach)]
#[bulkhead(name = "detached", max_concurrent_calls = 1)]
async fn detached(log: Arc<Mutex<Vec<&'static str>>>) -> Outcome<()> {
    tokio::time::sleep(2 * SECOND).await;
    log.lock().unwrap().push("body ended");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_detached_body_runs_on_after_its_timeout_and_keeps_its_slot() {
    let (registry, log) = (registry("{}"), Arc::default());
    let result = registry.scope(detached(Arc::clone(&log))).await;
    assert!(matches!(result, Err(Failure::Refused(Error::TimedOut(_)))), "{result:?}");
    assert_eq!(registry.bulkhead("detached").available_concurrent_calls(), 0);
    tokio::time::sleep(2 * SECOND).await;
    assert_eq!(*log.lock().unwrap(), ["body ended"]);
    assert_eq!(registry.bulkhead("detached").available_concurrent_calls(), 1);
}

thread_local! {
    static HERE: Cell<bool> = const { Cell::new(false) };
}

#[retry(name = "pool", wait_duration = "0ms")]
#[bulkhead(
    type = "thread_pool",
    name = "pool",
    core_thread_pool_size = 1,
    max_thread_pool_size = 1
)]
fn on_the_pool(calls: Arc<AtomicU32>) -> Outcome<bool> {
    if calls.fetch_add(1, Ordering::Relaxed) == 0 {
        return Err(Failure::Down);
    }
    Ok(HERE.get())
}

#[tokio::test]
async fn a_thread_pools_function_runs_on_another_thread_and_is_retried() {
    HERE.set(true);
    let calls = Arc::new(AtomicU32::new(0));
    let here = registry("{}").scope(on_the_pool(Arc::clone(&calls))).await.unwrap();
    assert_eq!((here, count(&calls)), (false, 2));
}

// Forms, where more than compiling matters.

struct Service(Vec<u32>);

impl Service {
    #[retry(name = "exclusive", mut_ok, wait_duration = "0ms", fallback = Self::what_was_noted)]
    async fn note(&mut self, value: u32) -> Outcome {
        self.0.push(value);
        Err(Failure::Down)
    }

    fn what_was_noted(&mut self, _: u32, _: Failure) -> Outcome {
        Ok(self.0.iter().sum())
    }
}

#[tokio::test(start_paused = true)]
async fn every_attempt_and_the_fallback_share_an_exclusive_receiver() {
    let mut service = Service(Vec::new());
    assert_eq!(registry("{}").scope(service.note(2)).await.unwrap(), 6);
}

#[retry(name = "boxed", wait_duration = "0ms")]
fn boxed(calls: &AtomicU32) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
    Box::pin(async move {
        match calls.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Failure::Down),
            n => Ok(n),
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_function_that_returns_a_boxed_future_is_retried_as_a_whole() {
    assert_eq!(registry("{}").scope(boxed(&AtomicU32::new(0))).await.unwrap(), 1);
}
