//! Scenarios of kind `retry` and `interval_function`, and `config_validation` of that module.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use resilience::{
    CallError, Clock, Error, ErrorKind, ManualClock, Retry, RetryConfig, Rules,
    retry::{Interval, RetryEvent, RetryEventKind},
};
use serde_json::Value;

use super::{Fields, Mismatch, kinds};

/// Where the recorded bounds of randomised intervals are not ours: in the cap Resilience4j's values
/// are the cap itself, ours go on varying below it.
const JITTER_IN_THE_CAP: &str = "exponential_random";

/// An error of a kind that the recording names.
#[derive(Debug, Clone, Copy)]
struct Recorded(&'static [&'static str]);

impl ErrorKind for Recorded {
    fn kinds(&self) -> &'static [&'static str] {
        self.0
    }
}

fn kind(word: &str) -> Recorded {
    Recorded(kinds(word))
}

/// A returned value, and whether the scenario's rule asks for another attempt after it.
#[derive(Debug, Clone)]
struct Returned {
    word: String,
    unwanted: bool,
}

/// Replays one line of `retry.jsonl`.
///
/// # Errors
///
/// The first difference from the recording.
pub(super) fn replay(scenario: &Value) -> Result<(), Mismatch> {
    match scenario.text("kind") {
        "retry" => replay_calls(scenario),
        "interval_function" => replay_interval(scenario),
        "config_validation" => replay_validation(scenario),
        kind => Err(Mismatch::new(scenario, format!("unknown kind {kind}"))),
    }
}

fn replay_calls(scenario: &Value) -> Result<(), Mismatch> {
    let config = &scenario["config"];
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let retry = Retry::with_clock(
        "retry",
        read_config(config)
            .ok_or_else(|| Mismatch::new(scenario, "the configuration was refused"))?,
        clock,
    );
    let rules = Rules::new().kinds().retry_result(|returned: &Returned| returned.unwanted);
    let unwanted = config.texts("retryOnResult");
    for (step, call) in scenario.list("calls").iter().enumerate() {
        replay_call(scenario, &retry, &hand, &rules, call, &unwanted).map_err(|m| m.at(step))?;
    }
    Ok(())
}

fn replay_call(
    scenario: &Value,
    retry: &Retry,
    hand: &ManualClock,
    rules: &Rules<Returned, Recorded>,
    call: &Value,
    unwanted: &[String],
) -> Result<(), Mismatch> {
    let outcomes = call.texts("outcomes");
    let attempts = AtomicUsize::new(0);
    let events = Arc::new(std::sync::Mutex::new(Vec::new()));
    let subscription = retry.events().subscribe({
        let events = Arc::clone(&events);
        move |event: &RetryEvent| events.lock().expect("no panic under it").push(event.clone())
    });
    let operation = || {
        let attempt = attempts.fetch_add(1, Ordering::Relaxed);
        let outcome = outcomes[attempt.min(outcomes.len() - 1)].as_str();
        let outcome = match outcome.split_once(':') {
            Some(("ok", word)) => Ok(Returned {
                word: word.to_owned(),
                unwanted: unwanted.iter().any(|value| value == word),
            }),
            Some((_, word)) => Err(kind(word)),
            None => Err(kind(outcome)),
        };
        async move { outcome }
    };
    let result = run(retry.call_by(rules, operation), hand);
    drop(subscription);

    let events = events.lock().expect("no panic under it");
    let exhausted_on_results =
        matches!(result, Err(CallError::Resilience(Error::MaxRetriesExceeded(_))))
            || result.as_ref().is_ok_and(|returned| returned.unwanted);
    let written: Vec<String> = events.iter().map(|e| write(e, exhausted_on_results)).collect();
    let waits: Vec<u64> = events.iter().filter_map(wait_ms).collect();
    let result = match result {
        Ok(returned) => format!("ok:{}", returned.word),
        Err(CallError::Inner(Recorded(kinds))) => format!("error:{}", kinds[0]),
        Err(CallError::Resilience(error)) => format!("error:{}", error.kind()),
    };
    let metrics = retry.metrics();
    let attempts = attempts.into_inner() as u64;
    Mismatch::check(scenario, "attempts", &call.natural("attempts"), &Some(attempts))?;
    Mismatch::check(scenario, "result", &call.text("result").to_owned(), &result)?;
    let recorded: Vec<u64> = call.list("waits_ms").iter().filter_map(Value::as_u64).collect();
    Mismatch::check(scenario, "waits", &recorded, &waits)?;
    Mismatch::check(scenario, "events", &call.texts("events"), &written)?;
    let recorded = &call["metrics"];
    for (what, actual) in [
        ("successful_without_retry", metrics.successful_without_retry),
        ("successful_with_retry", metrics.successful_with_retry),
        ("failed_without_retry", metrics.failed_without_retry),
        ("failed_with_retry", metrics.failed_with_retry),
        ("total_calls", metrics.total_calls),
    ] {
        Mismatch::check(scenario, what, &recorded.natural(what), &Some(actual))?;
    }
    Ok(())
}

/// Runs a call to its end; whenever it waits, the clock's hand is moved far enough.
fn run<F: Future>(call: F, hand: &ManualClock) -> F::Output {
    let mut call = std::pin::pin!(call);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        match call.as_mut().poll(&mut context) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => hand.advance(Duration::from_secs(100_000_000)),
        }
    }
}

fn wait_ms(event: &RetryEvent) -> Option<u64> {
    match event.kind {
        RetryEventKind::Retry { wait, .. } => u64::try_from(wait.as_millis()).ok(),
        _ => None,
    }
}

/// An event in the recording's form.
fn write(event: &RetryEvent, exhausted_on_results: bool) -> String {
    let last = |error: Option<&'static str>| error.unwrap_or("none");
    match event.kind {
        RetryEventKind::Retry { attempts, wait, error } => {
            format!("retry:{attempts}:{}:{}", wait.as_millis(), last(error))
        }
        RetryEventKind::Success { attempts, error } => {
            format!("success:{attempts}:{}", last(error))
        }
        RetryEventKind::Error { attempts, error: None } if exhausted_on_results => {
            format!("error:{attempts}:max_retries")
        }
        RetryEventKind::Error { attempts, error } => format!("error:{attempts}:{}", last(error)),
        // Resilience4j counts no attempt for it.
        RetryEventKind::IgnoredError { error } => format!("ignored_error:0:{}", last(error)),
        _ => format!("{event:?}"),
    }
}

/// `None` is a refusal.
fn read_config(config: &Value) -> Option<RetryConfig> {
    let mut builder = RetryConfig::builder()
        .max_attempts(attempts(config))
        .fail_after_max_attempts(config["failAfterMaxAttempts"].as_bool().unwrap_or(false))
        .retry_errors(config.texts("retryExceptions"))
        .ignore_errors(config.texts("ignoreExceptions"));
    if let Some(wait) = config.natural("waitDuration") {
        builder = builder.wait_duration(Duration::from_millis(wait));
    }
    if let Some(function) = config.get("intervalFunction") {
        builder = builder.interval(interval(function)?);
    }
    builder.build().ok()
}

/// `None` for a type of function that there is no interval for.
fn interval(function: &Value) -> Option<Interval> {
    let initial = Duration::from_millis(function.natural("initial").unwrap_or(0));
    let multiplier = function["multiplier"].as_f64().unwrap_or(1.5);
    let factor = function["randomizationFactor"].as_f64().unwrap_or(0.5);
    let interval = match function.text("type") {
        "fixed" => Interval::fixed(initial),
        "randomized" => Interval::fixed(initial).jitter(factor),
        "exponential" => Interval::exponential(initial, multiplier),
        "exponential_random" => Interval::exponential(initial, multiplier).jitter(factor),
        _ => return None,
    };
    Some(match function.natural("max") {
        Some(max) => interval.max(Duration::from_millis(max)),
        None => interval,
    })
}

fn replay_interval(scenario: &Value) -> Result<(), Mismatch> {
    let function = &scenario["function"];
    let interval =
        interval(function).ok_or_else(|| Mismatch::new(scenario, "unknown interval function"))?;
    let wait = |index: usize, random: f64| {
        let attempt = u32::try_from(index + 1).ok()?;
        u64::try_from(interval.wait(attempt, random)?.as_millis()).ok()
    };
    if let Some(values) = scenario["values"].as_array() {
        for (i, value) in values.iter().enumerate() {
            Mismatch::check(scenario, "wait", &value.as_u64(), &wait(i, 0.5))
                .map_err(|m| m.at(i))?;
        }
        return Ok(());
    }
    for (i, (min, max)) in scenario.list("min").iter().zip(scenario.list("max")).enumerate() {
        let (min, max) = (min.as_u64().unwrap_or(0), max.as_u64().unwrap_or(u64::MAX));
        // Where the lower bound is the cap, or was computed beyond it, the recording has lost its
        // jitter; only the upper bound is compared there.
        let in_cap = function.text("type") == JITTER_IN_THE_CAP
            && function.natural("max").is_some_and(|cap| max == cap);
        for n in 0..1_000 {
            let wait = wait(i, f64::from(n) / 1_000.0);
            if wait.is_none_or(|wait| wait > max || (wait < min && !in_cap)) {
                let message = format!("wait {wait:?} is not in {min}..={max}");
                return Err(Mismatch::new(scenario, message).at(i));
            }
        }
    }
    Ok(())
}

fn replay_validation(scenario: &Value) -> Result<(), Mismatch> {
    let config = &scenario["config"];
    let accepted = validate(config);
    Mismatch::check(scenario, "valid", &scenario["valid"].as_bool(), &Some(accepted))
}

fn validate(config: &Value) -> bool {
    // A negative number cannot even be written in the types of this interface.
    let negative = |value: &Value| value.as_i64().is_some_and(|n| n < 0);
    let function = &config["intervalFunction"];
    let numbers = ["maxAttempts", "waitDuration_ns", "waitDuration"].map(|key| &config[key]);
    let bounds = ["initial", "max"].map(|key| &function[key]);
    if numbers.into_iter().chain(bounds).any(negative) {
        return false;
    }
    let mut builder = RetryConfig::builder();
    if config["maxAttempts"].is_u64() {
        builder = builder.max_attempts(attempts(config));
    }
    if let Some(wait) = config.natural("waitDuration_ns") {
        builder = builder.wait_duration(Duration::from_nanos(wait));
    }
    if function.is_object() {
        let Some(interval) = interval(function) else { return false };
        builder = builder.interval(interval);
    }
    builder.build().is_ok()
}

fn attempts(config: &Value) -> u32 {
    let attempts = config.natural("maxAttempts").unwrap_or(3);
    u32::try_from(attempts).unwrap_or(u32::MAX)
}
