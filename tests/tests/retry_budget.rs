//! Retry budgets and `total_timeout`: alone, in a stack, by attribute and by configuration.

use std::{
    pin::pin,
    sync::{
        Arc, Barrier,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Waker},
    thread,
    time::Duration,
};

use resilience::{
    CallError, Clock, Config, ConfigError, Error, ManualClock, Resilience, Retry, RetryConfig,
    Rules, Stack,
    config::Format,
    retry,
    retry::{RetryBudget, RetryBudgetConfig, RetryEventKind},
};

type Outcome = Result<u32, CallError<&'static str>>;

const SECOND: Duration = Duration::from_secs(1);

fn budget(ratio: f64, min_per_second: u32) -> (RetryBudget, ManualClock) {
    let config = RetryBudgetConfig::builder().ratio(ratio).min_per_second(min_per_second);
    let (clock, hand) = Clock::manual(SECOND * 1_000);
    (RetryBudget::with_clock("b", config.build().expect("in range"), clock), hand)
}

fn without_wait(name: &str, attempts: u32) -> Retry {
    let config = RetryConfig::builder().max_attempts(attempts).wait_duration(Duration::ZERO);
    Retry::new(name, config.build().expect("in range"))
}

/// How many attempts a call makes that always fails.
async fn attempts(retry: &Retry) -> u32 {
    let made = AtomicU32::new(0);
    let outcome: Outcome = retry
        .call(|| async {
            made.fetch_add(1, Ordering::Relaxed);
            Err("down")
        })
        .await;
    assert_eq!(outcome, Err(CallError::Inner("down")), "the last error");
    made.into_inner()
}

#[test]
fn d17_calls_of_64_threads_get_exactly_the_retries_of_their_budget() {
    let (budget, _hand) = budget(0.0, 10);
    let retry = without_wait("r", u32::MAX).with_budget(&budget);
    let start = Barrier::new(64);
    let made: u32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..64)
            .map(|_| {
                scope.spawn(|| {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    start.wait();
                    runtime.block_on(attempts(&retry))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(made, 64 + 100, "a first attempt each, and a hundred retries");
    assert_eq!(retry.metrics().stopped_by_budget, 64);
    assert_eq!(budget.metrics().retries, 100);
}

#[tokio::test(start_paused = true)]
async fn d18_an_empty_budget_stops_new_retries_and_nothing_that_is_under_way() {
    let (budget, _hand) = budget(0.0, 1);
    let config = RetryConfig::builder().max_attempts(2).wait_duration(SECOND).build().unwrap();
    let retry = Retry::new("r", config).with_budget(&budget);
    // Ten calls fail, take a retry each and wait.
    let waiting: Vec<_> = (0..10)
        .map(|_| {
            let retry = retry.clone();
            tokio::spawn(async move { attempts(&retry).await })
        })
        .collect();
    tokio::task::yield_now().await;
    assert_eq!(budget.metrics().available, 0);
    assert_eq!(attempts(&retry).await, 1, "a new call is made, and not again");
    for call in waiting {
        assert_eq!(call.await.unwrap(), 2, "what was granted is not taken back");
    }
    let works: Outcome = retry.call(|| async { Ok(7) }).await;
    assert_eq!(works, Ok(7), "calls that need no retry never ask");
}

#[tokio::test]
async fn d19_a_budget_has_a_floor_for_few_calls() {
    let (with_floor, hand) = budget(0.2, 3);
    let retry = without_wait("r", 100).with_budget(&with_floor);
    assert_eq!(attempts(&retry).await, 31, "a fifth of one call is none, the floor is 30");
    assert_eq!(attempts(&retry).await, 1);
    hand.advance(SECOND * 10);
    assert_eq!(attempts(&retry).await, 31, "ten seconds later");

    let (without, _hand) = budget(0.2, 0);
    let retry = without_wait("r", 100).with_budget(&without);
    let mut made = [0; 6];
    for made in &mut made {
        *made = attempts(&retry).await;
    }
    assert_eq!(made, [1, 1, 1, 1, 2, 1], "every fifth call has one");
}

#[tokio::test]
async fn d22_while_all_fails_a_fraction_comes_on_top_of_the_calls_and_no_more() {
    let (budget, hand) = budget(0.2, 1);
    let retry = without_wait("r", 4).with_budget(&budget);
    let mut made = 0;
    for call in 0..2_000 {
        made += attempts(&retry).await;
        if call % 100 == 99 {
            hand.advance(SECOND);
        }
    }
    // Twenty seconds are two windows: a floor of ten each.
    assert!(made <= 2_400 + 30, "{made}");
    assert!(made >= 2_400, "{made}: the budget is used");
}

#[tokio::test]
async fn d22_retries_at_four_hops_share_one_budget_and_do_not_multiply() {
    const CALLS: u32 = 500;
    let (budget, _hand) = budget(0.2, 0);
    let hops: Vec<Retry> = ["a", "b", "c", "d"]
        .iter()
        .map(|name| without_wait(name, 3).with_budget(&budget))
        .collect();
    let bottom = AtomicU32::new(0);
    for _ in 0..CALLS {
        let outcome: Result<u32, CallError<CallError<CallError<CallError<&str>>>>> = hops[0]
            .call(|| {
                hops[1].call(|| {
                    hops[2].call(|| {
                        hops[3].call(|| async {
                            bottom.fetch_add(1, Ordering::Relaxed);
                            Err("down")
                        })
                    })
                })
            })
            .await;
        assert!(outcome.is_err());
    }
    let metrics = budget.metrics();
    assert!(metrics.retries * 5 <= metrics.calls, "a fifth of what all hops call: {metrics:?}");
    let bottom = bottom.into_inner();
    assert!(bottom <= CALLS * 2, "{bottom}, where 3 attempts at 4 hops would be {}", CALLS * 81);
}

#[tokio::test]
async fn the_budget_shows_in_events_and_metrics() {
    let (budget, _hand) = budget(0.0, 0);
    let retry = without_wait("r", 3).with_budget(&budget);
    let events = Arc::new(std::sync::Mutex::new(Vec::new()));
    let _subscription = {
        let events = Arc::clone(&events);
        retry.events().subscribe(move |event| events.lock().unwrap().push(event.kind))
    };
    assert_eq!(attempts(&retry).await, 1);
    let metrics = retry.metrics();
    assert_eq!((metrics.failed_with_retry, metrics.stopped_by_budget), (1, 1));
    let error = RetryEventKind::Error { attempts: 1, error: Some("error") };
    assert_eq!(*events.lock().unwrap(), [error]);
    let seen = budget.metrics();
    assert_eq!((seen.calls, seen.retries, seen.refused, seen.available), (1, 0, 1, 0));
}

#[tokio::test]
async fn an_unwanted_result_without_budget_ends_as_one_without_attempts() {
    let (budget, _hand) = budget(0.0, 0);
    let rules: Rules<u32, &str> = Rules::new().retry_result(|n: &u32| *n == 0);
    for fails in [false, true] {
        let config = RetryConfig::builder().fail_after_max_attempts(fails).build().unwrap();
        let retry = Retry::new("r", config).with_budget(&budget);
        let outcome: Outcome = retry.call_by(&rules, || async { Ok(0) }).await;
        match outcome {
            Ok(0) => assert!(!fails),
            Err(CallError::Resilience(Error::MaxRetriesExceeded(error))) => {
                assert!(fails);
                assert_eq!(error.attempts(), 1);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_disabled_retry_spends_and_counts_nothing() {
    let (budget, _hand) = budget(0.2, 1);
    let config = RetryConfig::builder().enabled(false).build().unwrap();
    let retry = Retry::new("r", config).with_budget(&budget);
    assert_eq!(attempts(&retry).await, 1);
    assert_eq!(budget.metrics().calls, 0);
}

#[tokio::test]
async fn a_stack_and_a_lone_retry_share_a_budget() {
    let (budget, _hand) = budget(1.0, 0);
    let retry = without_wait("r", 2).with_budget(&budget);
    let stack = Stack::builder().retry(retry.clone()).build();
    let made = AtomicU32::new(0);
    let outcome: Outcome = stack
        .call(|| async {
            made.fetch_add(1, Ordering::Relaxed);
            Err("down")
        })
        .await;
    assert!(outcome.is_err());
    assert_eq!((made.into_inner(), budget.metrics().calls), (2, 1));
}

// total_timeout

fn bounded(total: Duration, wait: Duration) -> Retry {
    let config = RetryConfig::builder()
        .max_attempts(100)
        .wait_duration(wait)
        .total_timeout(total)
        .build()
        .expect("in range");
    Retry::new("r", config)
}

#[tokio::test(start_paused = true)]
async fn no_attempt_starts_whose_wait_would_end_after_the_total_timeout() {
    let start = tokio::time::Instant::now();
    assert_eq!(attempts(&bounded(Duration::from_millis(3_001), SECOND)).await, 4);
    assert_eq!(start.elapsed().as_secs(), 3, "at 0, 1, 2 and 3 s");
    let start = tokio::time::Instant::now();
    let retry = bounded(SECOND * 3, SECOND);
    assert_eq!(attempts(&retry).await, 3, "at 3 s no time is left");
    assert_eq!(start.elapsed().as_secs(), 2, "at once, not after a wait in vain");
    let metrics = retry.metrics();
    assert_eq!((metrics.failed_with_retry, metrics.stopped_by_budget), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn the_total_timeout_counts_from_the_first_poll_and_cuts_no_attempt_short() {
    let retry = bounded(SECOND, Duration::ZERO);
    let call = retry.call(|| async {
        tokio::time::sleep(SECOND * 5).await;
        Ok::<_, &str>(tokio::time::Instant::now())
    });
    tokio::time::sleep(SECOND * 60).await;
    let start = tokio::time::Instant::now();
    assert_eq!(call.await.unwrap().duration_since(start).as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_hint_to_wait_longer_than_there_is_time_ends_the_call() {
    let rules: Rules<u32, &str> = Rules::new().retry_after(|_: &&str| Some(SECOND * 20));
    let start = tokio::time::Instant::now();
    let outcome = bounded(SECOND * 10, SECOND).call_by(&rules, || async { Err("busy") }).await;
    assert_eq!(outcome, Err(CallError::Inner("busy")));
    assert_eq!(start.elapsed(), Duration::ZERO);
}

// By attribute and configuration

static MADE: AtomicU32 = AtomicU32::new(0);

#[retry(name = "budgeted", budget = "inline", max_attempts = 50, wait_duration = "0ms")]
async fn budgeted() -> Result<u32, Error> {
    MADE.fetch_add(1, Ordering::Relaxed);
    nested_refusal().await
}

#[resilience::bulkhead(name = "neverRoom", max_concurrent_calls = 0)]
async fn nested_refusal() -> Result<u32, Error> {
    Ok(1)
}

#[retry(name = "timed", total_timeout = "2s", max_attempts = 50, wait_duration = "1s")]
async fn timed(made: &AtomicU32) -> Result<u32, Error> {
    made.fetch_add(1, Ordering::Relaxed);
    nested_refusal().await
}

fn load(text: &str) -> Result<Config, ConfigError> {
    Config::builder().env(false).text(text, Format::Yaml).load()
}

#[tokio::test]
async fn an_annotated_function_takes_its_retries_from_the_registrys_budget() {
    let text = "retry.budgets.inline: { ratio: 0, min_per_second: 2 }";
    let registry = Resilience::from_config(load(text).unwrap()).unwrap();
    assert!(registry.scope(budgeted()).await.is_err());
    assert_eq!(MADE.load(Ordering::Relaxed), 21);
    assert_eq!(registry.retry_budget("inline").metrics().refused, 1);
    assert_eq!(registry.retry("budgeted").metrics().stopped_by_budget, 1);
    assert!(registry.warnings().is_empty(), "{:?}", registry.warnings());
}

#[tokio::test(start_paused = true)]
async fn an_annotated_function_is_bounded_by_its_total_timeout() {
    let made = AtomicU32::new(0);
    let registry = Resilience::from_config(Config::default()).unwrap();
    assert!(registry.scope(timed(&made)).await.is_err());
    assert_eq!(made.into_inner(), 2);
}

#[test]
fn a_budget_is_declared_in_every_format_and_found_in_any_spelling() {
    let half = RetryBudgetConfig::builder().ratio(0.5).min_per_second(0).build().unwrap();
    for (format, text) in [
        (
            Format::Yaml,
            "retry:\n  budgets:\n    back-end: { ratio: 0.5, min_per_second: 0 }\n  instances:\n    a: { budget: backEnd }",
        ),
        (
            Format::Toml,
            "[retry.budgets.back-end]\nratio = 0.5\nmin_per_second = 0\n[retry.instances.a]\nbudget = \"backEnd\"",
        ),
        (
            Format::Json,
            r#"{"retry": {"budgets": {"back-end": {"ratio": 0.5, "minPerSecond": 0}}, "instances": {"a": {"budget": "backEnd"}}}}"#,
        ),
        (
            Format::Properties,
            "resilience4j.retry.budgets.back-end.ratio=0.5\nresilience4j.retry.budgets.back-end.min-per-second=0\nresilience4j.retry.instances.a.budget=backEnd",
        ),
    ] {
        let config = Config::builder().env(false).text(text, format).load().unwrap();
        assert_eq!(config.retry_budgets().collect::<Vec<_>>(), ["back-end"], "{format:?}");
        let registry = Resilience::from_config(config).unwrap();
        let budgets = registry.retry_budgets();
        assert_eq!(budgets.len(), 1, "{format:?}");
        assert_eq!(*budgets[0].config(), half, "{format:?}");
        assert_eq!(registry.find_retry_budget("BACKEND").as_ref(), Some(&budgets[0]));
        let call = pin!(async {
            let _: Outcome = registry.retry("a").call(|| async { Ok(1) }).await;
        });
        assert!(call.poll(&mut Context::from_waker(Waker::noop())).is_ready());
        assert_eq!(budgets[0].metrics().calls, 1, "{format:?}");
    }
}

#[test]
fn a_variable_sets_what_a_budget_has() {
    let text = "retry.budgets.back-end: {}\nretry.instances.a: { budget: back-end }";
    let config = Config::builder()
        .text(text, Format::Yaml)
        .vars([
            ("RESILIENCE_RETRY_BUDGETS_BACKEND_RATIO", "0.75"),
            ("RESILIENCE_RETRY_BUDGETS_BACK_END_MIN_PER_SECOND", "3"),
            ("RESILIENCE_RETRY_BUDGETS_BAKEND_RATIO", "0.1"),
            ("RESILIENCE_RETRY_BUDGETS_BACKEND_RATOI", "0.1"),
        ])
        .load()
        .unwrap();
    assert_eq!(
        config.warnings(),
        [
            "environment RESILIENCE_RETRY_BUDGETS_BAKEND_RATIO sets nothing: it names no declared \
             budget of retry; did you mean `back-end`?",
            "environment RESILIENCE_RETRY_BUDGETS_BACKEND_RATOI sets nothing: `back-end` has no \
             such key; did you mean RATIO?",
        ]
    );
    let registry = Resilience::from_config(config).unwrap();
    let effective: Vec<String> = registry
        .effective_config()
        .into_iter()
        .filter(|(path, ..)| path.starts_with("retry.budgets"))
        .map(|(path, value, origin)| format!("{path} = {value} from {origin}"))
        .collect();
    assert_eq!(
        effective,
        [
            "retry.budgets.back-end.ratio = 0.75 from environment \
             RESILIENCE_RETRY_BUDGETS_BACKEND_RATIO",
            "retry.budgets.back-end.min_per_second = 3 from environment \
             RESILIENCE_RETRY_BUDGETS_BACK_END_MIN_PER_SECOND",
        ]
    );
}

#[test]
fn mistakes_about_budgets_are_told_all_at_once() {
    let text = "retry:
  budgets:
    backend: { ratio: 11, min_per_secnod: 3 }
    '': {}
  configs:
    default: { budget: bakend }
  instances:
    a: { budget: elsewhere, max_attempts: 0 }
    b: { budget: Back-End }
    c: { total_timeout: 0ms }
bulkhead:
  budgets:
    x: {}
";
    assert_eq!(
        load(text).unwrap_err().to_string(),
        "8 problems in the configuration:\
         \n  - <text>:3: retry.budgets.backend.min_per_secnod = 3: unknown key; did you mean \
         `min_per_second`?\
         \n  - <text>:3: retry.budgets.backend.ratio = 11: expected a number of at least 0 and up to 10\
         \n  - <text>:4: retry.budgets.: an instance name must not be empty\
         \n  - <text>:6: retry.configs.default.budget = bakend: no budget of this name is declared; \
         did you mean `backend`?\
         \n  - <text>:8: retry.instances.a.max_attempts = 0: expected a whole number from 1 to \
         4294967295\
         \n  - <text>:8: retry.instances.a.budget = elsewhere: no budget of this name is declared; \
         known are backend\
         \n  - <text>:10: retry.instances.c.total_timeout = 0ms: expected a duration of at least 1ms, \
         such as 500ms, 2s or 1m30s\
         \n  - <text>:12: bulkhead.budgets: unknown section; known are configs, instances, enabled"
    );
}

#[test]
fn a_budget_that_only_code_names_works_on_defaults_and_is_warned_about() {
    let registry = Resilience::from_config(load("retry.budgets.backend: {}").unwrap()).unwrap();
    assert_eq!(*registry.retry_budget("bakend").config(), RetryBudgetConfig::default());
    assert_eq!(registry.retry_budget("Bakend"), registry.retry_budget("bakend"));
    assert_eq!(
        registry.warnings(),
        [
            "retry budget 'bakend' works on its defaults: no budget of this name is declared; did you \
          mean `backend`?"
        ]
    );
}
