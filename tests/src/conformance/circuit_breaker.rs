//! Replays `circuit_breaker` and `config_validation` scenarios.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use resilience::{
    CircuitBreaker, CircuitBreakerConfig, Clock, ManualClock,
    circuit_breaker::{
        CircuitBreakerConfigBuilder, CircuitBreakerEvent, CircuitBreakerEventKind,
        IllegalTransition, SlidingWindowType, State,
    },
    events::Event,
};
use serde_json::Value;

use super::{Fields, Mismatch, kinds};

/// Replays one scenario on a fresh breaker.
///
/// # Errors
///
/// The first step at which the breaker does or tells something else than the recording.
pub(super) fn replay(scenario: &Value) -> Result<(), Mismatch> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|error| Mismatch::new(scenario, error.to_string()))?;
    match scenario.text("kind") {
        "circuit_breaker" => runtime.block_on(replay_steps(scenario)),
        "config_validation" => validate(scenario),
        other => Err(Mismatch::new(scenario, format!("there is no kind `{other}`"))),
    }
}

async fn replay_steps(scenario: &Value) -> Result<(), Mismatch> {
    let run = Run::start(scenario)?;
    for (index, step) in scenario.list("steps").iter().enumerate() {
        let throws = run.act(step).await.map_err(|mismatch| mismatch.at(index))?;
        run.compare(step, throws.as_deref()).map_err(|mismatch| mismatch.at(index))?;
    }
    Ok(())
}

struct Run<'a> {
    scenario: &'a Value,
    breaker: CircuitBreaker,
    hand: ManualClock,
    events: Arc<Mutex<Vec<String>>>,
}

impl<'a> Run<'a> {
    fn start(scenario: &'a Value) -> Result<Self, Mismatch> {
        let config = build(&scenario["config"])
            .ok_or_else(|| Mismatch::new(scenario, "the configuration was refused"))?;
        let start = scenario.natural("start_epoch_ms").unwrap_or(0);
        let (clock, hand) = Clock::manual(Duration::from_millis(start));
        let breaker = CircuitBreaker::with_clock("trace", config, clock);
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&events);
        breaker
            .events()
            .subscribe(move |event| {
                heard.lock().unwrap_or_else(PoisonError::into_inner).push(describe(event));
            })
            .forever();
        Ok(Self { scenario, breaker, hand, events })
    }

    /// Does what a step says; the answer is the name of the error it met.
    async fn act(&self, step: &Value) -> Result<Option<String>, Mismatch> {
        let breaker = &self.breaker;
        let elapsed = millis(step, "duration_ms");
        let mut transition = Ok(());
        match step.text("op") {
            "advance" => {
                self.hand.advance(millis(step, "ms"));
                // The timer's task needs a turn to be woken, and one to act.
                for _ in 0..4 {
                    tokio::task::yield_now().await;
                }
            }
            "acquire" => {
                let permitted = breaker.try_acquire_permission();
                let recorded = step["permitted"].as_bool();
                Mismatch::check(self.scenario, "permitted", &recorded, &Some(permitted))?;
            }
            "success" => breaker.on_success(elapsed),
            "result" => transition = self.on_result(elapsed, step.text("value")),
            "error" => transition = self.on_error(elapsed, step.text("kind")),
            "release" => breaker.release_permission(),
            "reset" => breaker.reset(),
            "to_open_for" => transition = breaker.transition_to_open_for(millis(step, "ms")),
            "to_open_until" => {
                transition = breaker.transition_to_open_for(millis(step, "ms_from_now"));
            }
            op => {
                let state = op.strip_prefix("to_").and_then(|state| state.parse().ok());
                let state = state.ok_or_else(|| {
                    Mismatch::new(self.scenario, format!("there is no op `{op}`"))
                })?;
                transition = breaker.transition_to(state);
            }
        }
        Ok(transition.err().map(|_: IllegalTransition| "IllegalStateTransition".to_owned()))
    }

    fn on_result(&self, elapsed: Duration, value: &str) -> Result<(), IllegalTransition> {
        if self.scenario["config"].texts("recordResult").iter().any(|failure| failure == value) {
            self.breaker.on_result_failure(elapsed);
            return Ok(());
        }
        self.breaker.on_success(elapsed);
        self.open_if_asked("values", value)
    }

    fn on_error(&self, elapsed: Duration, kind: &str) -> Result<(), IllegalTransition> {
        self.breaker.on_error(elapsed, kinds(kind));
        let ignored = self.scenario["config"].texts("ignoreExceptions");
        if ignored.iter().any(|ignored| ignored == kind) {
            return Ok(());
        }
        self.open_if_asked("error_kinds", kind)
    }

    /// What Resilience4j's transition check does after a call that was not ignored.
    fn open_if_asked(&self, list: &str, what: &str) -> Result<(), IllegalTransition> {
        let rule = &self.scenario["config"]["transitionOnResult"];
        if self.breaker.state() == State::Closed && rule.texts(list).iter().any(|it| it == what) {
            return self.breaker.transition_to_open_for(millis(rule, "wait_ms"));
        }
        Ok(())
    }

    fn compare(&self, step: &Value, throws: Option<&str>) -> Result<(), Mismatch> {
        let scenario = self.scenario;
        Mismatch::check(scenario, "throws", &step["throws"].as_str(), &throws)?;
        let events =
            std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner));
        Mismatch::check(scenario, "events", &recorded_events(step), &events)?;
        Mismatch::check(scenario, "state", &step.text("state"), &self.breaker.state().as_str())?;
        let metrics = self.breaker.metrics();
        let [failure_rate, slow_call_rate, counts @ ..] = step.list("metrics") else {
            return Err(Mismatch::new(scenario, "the step has no metrics"));
        };
        let rates = [rate(failure_rate), rate(slow_call_rate)];
        let actual = [metrics.failure_rate, metrics.slow_call_rate];
        Mismatch::check(scenario, "rates", &rates, &actual)?;
        let counts: Vec<_> = counts.iter().filter_map(Value::as_u64).collect();
        let actual = vec![
            metrics.buffered_calls,
            metrics.failed_calls,
            metrics.slow_calls,
            metrics.slow_successful_calls,
            metrics.slow_failed_calls,
            metrics.not_permitted_calls,
        ];
        Mismatch::check(scenario, "counts", &counts, &actual)
    }
}

fn validate(scenario: &Value) -> Result<(), Mismatch> {
    let recorded = scenario["valid"].as_bool();
    let valid = build(&scenario["config"]).is_some();
    Mismatch::check(scenario, "valid", &recorded, &Some(valid))
}

/// The configuration that a recorded one means, if this library accepts it.
///
/// What the builder's types cannot hold, such as a negative duration, is refused by them.
fn build(config: &Value) -> Option<CircuitBreakerConfig> {
    let config = config.as_object()?;
    // Resilience4j has two settings for the open wait and refuses to be given both. Here there is
    // one, so such a configuration cannot be written.
    if ["waitDurationInOpenState", "waitIntervalFunctionInOpenState"]
        .iter()
        .all(|key| config.contains_key(*key))
    {
        return None;
    }
    let mut builder = CircuitBreakerConfig::builder();
    for (key, value) in config {
        builder = set(builder, key, value)?;
    }
    builder.build().ok()
}

fn set(
    builder: CircuitBreakerConfigBuilder,
    key: &str,
    value: &Value,
) -> Option<CircuitBreakerConfigBuilder> {
    let number = || u32::try_from(value.as_u64()?).ok();
    let state = || value.as_str()?.parse::<State>().ok();
    let kinds = || value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let duration = || {
        let count = value.as_u64()?;
        Some(if key.ends_with("_ns") {
            Duration::from_nanos(count)
        } else {
            Duration::from_millis(count)
        })
    };
    Some(match key.strip_suffix("_ns").unwrap_or(key) {
        "failureRateThreshold" => builder.failure_rate_threshold(value.as_f64()?),
        "slowCallRateThreshold" => builder.slow_call_rate_threshold(value.as_f64()?),
        "slowCallDurationThreshold" => builder.slow_call_duration_threshold(duration()?),
        "slidingWindowType" => builder.sliding_window_type(match value.as_str()? {
            "COUNT_BASED" => SlidingWindowType::CountBased,
            _ => SlidingWindowType::TimeBased,
        }),
        "slidingWindowSize" => builder.sliding_window_size(number()?),
        "minimumNumberOfCalls" => builder.minimum_number_of_calls(number()?),
        "permittedNumberOfCallsInHalfOpenState" => {
            builder.permitted_number_of_calls_in_half_open_state(number()?)
        }
        "waitDurationInOpenState" => builder.wait_duration_in_open_state(duration()?),
        "waitIntervalFunctionInOpenState" => builder
            .wait_duration_in_open_state(Duration::from_millis(value.natural("initial")?))
            .enable_exponential_backoff(true)
            .exponential_backoff_multiplier(value["multiplier"].as_f64()?)
            .exponential_max_wait_duration_in_open_state(Duration::from_millis(
                value.natural("max")?,
            )),
        "maxWaitDurationInHalfOpenState" => {
            builder.max_wait_duration_in_half_open_state(duration()?)
        }
        "transitionToStateAfterWaitDuration" => {
            builder.transition_to_state_after_wait_duration(state()?)
        }
        "initialState" => builder.initial_state(state()?),
        "automaticTransitionFromOpenToHalfOpenEnabled" => {
            builder.automatic_transition_from_open_to_half_open_enabled(value.as_bool()?)
        }
        "recordExceptions" => builder.record_errors(kinds()),
        "ignoreExceptions" => builder.ignore_errors(kinds()),
        // Read by the steps; and this library's window has one strategy only.
        "recordResult" | "transitionOnResult" | "slidingWindowSynchronizationStrategy" => builder,
        _ => return None,
    })
}

fn millis(value: &Value, field: &str) -> Duration {
    Duration::from_millis(value.natural(field).unwrap_or(0))
}

fn describe(event: &CircuitBreakerEvent) -> String {
    let name = event.type_name().to_lowercase();
    match event.kind {
        CircuitBreakerEventKind::StateTransition { from, to, .. } => format!("{name}:{from}->{to}"),
        CircuitBreakerEventKind::FailureRateExceeded { rate }
        | CircuitBreakerEventKind::SlowCallRateExceeded { rate } => format!("{name}:{rate}"),
        _ => name,
    }
}

/// The events of a step, with rates as this library writes single-precision numbers.
fn recorded_events(step: &Value) -> Vec<String> {
    let texts = step.texts("events");
    texts
        .iter()
        .map(|text| match text.split_once("exceeded:") {
            Some((name, rate)) => {
                let rate =
                    rate.parse::<f32>().map_or_else(|_| rate.to_owned(), |rate| rate.to_string());
                format!("{name}exceeded:{rate}")
            }
            None => text.clone(),
        })
        .collect()
}

#[allow(clippy::cast_possible_truncation)] // recorded from a 32-bit float
fn rate(value: &Value) -> f32 {
    value.as_f64().map_or(f32::NAN, |rate| rate as f32)
}
