//! Scenarios of kind `rate_limiter`, and `config_validation` of that module.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use resilience::{
    Clock, ManualClock, RateLimiter, RateLimiterConfig,
    rate_limiter::{RateLimiterEvent, RateLimiterEventKind},
};
use serde_json::Value;

use super::{Fields, Mismatch};

/// Replays one line of `rate_limiter.jsonl`.
///
/// # Errors
///
/// The first step that went another way than recorded.
pub(super) fn replay(scenario: &Value) -> Result<(), Mismatch> {
    if scenario.text("kind") == "config_validation" {
        let valid = config(&scenario["config"]).is_some();
        return Mismatch::check(scenario, "valid", &scenario["valid"].as_bool(), &Some(valid));
    }
    let config = config(&scenario["config"])
        .ok_or_else(|| Mismatch::new(scenario, "the configuration was refused"))?;
    let replay = Replay::new(config);
    for (index, step) in scenario.list("steps").iter().enumerate() {
        replay.step(scenario, step).map_err(|mismatch| mismatch.at(index))?;
    }
    Ok(())
}

/// `None` is a refusal, by the builder or, for what is below zero, by its types.
fn config(recorded: &Value) -> Option<RateLimiterConfig> {
    let mut builder = RateLimiterConfig::builder();
    for (key, value) in recorded.as_object()? {
        let value = value.as_u64()?;
        let duration = Duration::from_nanos(value);
        builder = match key.as_str() {
            "limitForPeriod" => builder.limit_for_period(u32::try_from(value).ok()?),
            "limitRefreshPeriod_ns" => builder.limit_refresh_period(duration),
            "timeoutDuration_ns" => builder.timeout_duration(duration),
            _ => return None,
        };
    }
    builder.build().ok()
}

struct Replay {
    limiter: RateLimiter,
    hand: ManualClock,
    events: Arc<Mutex<Vec<String>>>,
}

impl Replay {
    fn new(config: RateLimiterConfig) -> Self {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let limiter = RateLimiter::with_clock("recorded", config, clock);
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&events);
        let listener = move |event: &RateLimiterEvent| {
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(recorded_form(event));
        };
        limiter.events().subscribe(listener).forever();
        Self { limiter, hand, events }
    }

    fn step(&self, scenario: &Value, step: &Value) -> Result<(), Mismatch> {
        let permits = || {
            let permits = step.natural("permits").and_then(|n| u32::try_from(n).ok());
            permits.ok_or_else(|| Mismatch::new(scenario, "a step has no number of permits"))
        };
        match step.text("op") {
            "advance" => self.advance(step, "ns"),
            "reserve" => {
                let nanos = |wait: Duration| i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX);
                let wait = self.limiter.reserve(permits()?).map_or(-1, nanos);
                Mismatch::check(scenario, "wait_ns", &step["wait_ns"].as_i64(), &Some(wait))?;
            }
            "acquire" => {
                let permitted = self.acquire(scenario, step, permits()?)?;
                let recorded = step["permitted"].as_bool();
                Mismatch::check(scenario, "permitted", &recorded, &Some(permitted))?;
            }
            "drain" => self.limiter.drain(),
            "change_limit" => {
                let limit = step.natural("limitForPeriod").and_then(|n| u32::try_from(n).ok());
                let changed = self.limiter.change_limit_for_period(limit.unwrap_or(0));
                Mismatch::check(scenario, "changed", &true, &changed.is_ok())?;
            }
            "change_timeout" => {
                let timeout = step.natural("timeoutDuration_ns").map(Duration::from_nanos);
                let changed = self.limiter.change_timeout_duration(timeout.unwrap_or_default());
                Mismatch::check(scenario, "changed", &true, &changed.is_ok())?;
            }
            op => return Err(Mismatch::new(scenario, format!("unknown op {op}"))),
        }
        self.check_state(scenario, step)
    }

    /// Resilience4j blocks for the whole timeout before it refuses; we refuse at once, so the clock
    /// is moved by what it blocked and the time of the refusal is not compared.
    fn acquire(&self, scenario: &Value, step: &Value, permits: u32) -> Result<bool, Mismatch> {
        let mut acquire = pin!(self.limiter.acquire(permits));
        let blocked = step.natural("blocked_ns").unwrap_or(0);
        match poll(acquire.as_mut()) {
            Poll::Ready(Ok(())) => {
                Mismatch::check(scenario, "blocked_ns", &blocked, &0)?;
                Ok(true)
            }
            Poll::Ready(Err(_)) => {
                self.advance(step, "blocked_ns");
                Ok(false)
            }
            Poll::Pending => {
                self.hand.advance(Duration::from_nanos(blocked.saturating_sub(1)));
                let early = poll(acquire.as_mut()).is_ready();
                Mismatch::check(scenario, "let through early", &false, &early)?;
                self.hand.advance(Duration::from_nanos(1));
                let permitted = matches!(poll(acquire), Poll::Ready(Ok(())));
                Ok(permitted)
            }
        }
    }

    fn advance(&self, step: &Value, field: &str) {
        self.hand.advance(Duration::from_nanos(step.natural(field).unwrap_or(0)));
    }

    fn check_state(&self, scenario: &Value, step: &Value) -> Result<(), Mismatch> {
        let metrics = self.limiter.metrics();
        let available = step["available"].as_i64();
        Mismatch::check(scenario, "available", &available, &Some(metrics.available_permissions))?;
        let wait = step.natural("next_wait_ns").map(Duration::from_nanos);
        Mismatch::check(scenario, "next_wait_ns", &wait, &Some(metrics.time_to_wait))?;
        Mismatch::check(scenario, "cycle", &step.natural("cycle"), &Some(metrics.cycle))?;
        let events = {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *events)
        };
        Mismatch::check(scenario, "events", &step.texts("events"), &events)
    }
}

fn recorded_form(event: &RateLimiterEvent) -> String {
    match event.kind {
        RateLimiterEventKind::SuccessfulAcquire { permits } => format!("success:{permits}"),
        RateLimiterEventKind::FailedAcquire { permits } => format!("failure:{permits}"),
        // Resilience4j tells only what was owed, never what it took.
        RateLimiterEventKind::Drained { available } => format!("drained:{}", available.min(0)),
        other => format!("{other:?}"),
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
