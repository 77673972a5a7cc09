//! How many failures in a row open a breaker, as tried out on one.

use std::{sync::Arc, time::Duration};

use super::{super::time::readable, count};
use crate::{
    CircuitBreaker, CircuitBreakerConfig, Clock, ManualClock,
    circuit_breaker::{FailureCounting, SlidingWindowType, State},
};

/// How many calls are tried out at most.
const MOST: u32 = 1_000_000;

pub(super) fn sentences(config: &CircuitBreakerConfig) -> Vec<String> {
    let rate = config.expected_rate().filter(|_| is_of_time(config));
    let healthy = match rate {
        Some(rate) => in_window(config, rate),
        None => config.sliding_window_size().min(MOST),
    };
    let fresh = Trial::new(config, rate).map(|trial| trial.fail(healthy, rate));
    let mut told: Vec<String> =
        fresh.map(|opens| format!("A fresh one {opens}.")).into_iter().collect();
    if is_of_time(config) && rate.is_none() {
        told.push(
            "How many it takes after calls that went well depends on how many the window holds: say \
             how many come with `expected_rate`."
                .to_owned(),
        );
    } else if let Some(trial) = Trial::new(config, rate).filter(|_| healthy > 0) {
        trial.succeed(healthy);
        told.push(format!(
            "After {} that went well it {}.",
            count(healthy.into(), "call"),
            trial.fail(healthy, rate)
        ));
    }
    told
}

/// Whether it goes by a window that calls leave as time passes.
fn is_of_time(config: &CircuitBreakerConfig) -> bool {
    config.sliding_window_type() == SlidingWindowType::TimeBased
        && config.failure_counting() == FailureCounting::Rate
}

/// How many calls a time window holds at this rate.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn in_window(config: &CircuitBreakerConfig, rate: f64) -> u32 {
    let calls = (rate * f64::from(config.sliding_window_size())).round() as u32;
    calls.min(MOST)
}

/// A breaker with nothing behind it.
struct Trial {
    breaker: CircuitBreaker,
    hand: ManualClock,
    /// The time between two calls: what is old leaves a time window.
    step: Duration,
}

impl Trial {
    /// Without a rate no time passes.
    fn new(config: &CircuitBreakerConfig, rate: Option<f64>) -> Option<Self> {
        let closed = config.to_builder().initial_state(State::Closed).build().ok()?;
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let step = rate.and_then(|rate| Duration::try_from_secs_f64(1.0 / rate).ok());
        Some(Self {
            breaker: CircuitBreaker::with_clock(Arc::from("tried out"), closed, clock),
            hand,
            step: step.unwrap_or_default(),
        })
    }

    fn succeed(&self, calls: u32) {
        for _ in 0..calls {
            self.hand.advance(self.step);
            self.breaker.on_success(Duration::ZERO);
        }
    }

    /// Says after how many failures it opens. Where a window holds no more calls than `in_window`, it
    /// looks the same ever after.
    fn fail(&self, in_window: u32, rate: Option<f64>) -> String {
        let most = match rate {
            Some(_) => in_window.saturating_add(2),
            None => MOST,
        };
        let opening = (1..=most).find(|_| {
            self.hand.advance(self.step);
            self.breaker.on_result_failure(Duration::ZERO);
            self.breaker.state() == State::Open
        });
        match (opening, rate) {
            (Some(n), None) => format!("opens after {}", count(n.into(), "failed call")),
            (Some(n), Some(rate)) => format!(
                "opens after {}, {} at {rate} a second",
                count(n.into(), "failed call"),
                readable(self.step.saturating_mul(n))
            ),
            (None, None) => format!("does not open after {MOST} failed calls"),
            (None, Some(rate)) => format!("never opens at {rate} a second"),
        }
    }
}
