use std::{fmt, sync::Arc, time::Duration};

use super::{State, engine::Effect};
use crate::events::Event;

/// Something that happened to a circuit breaker.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CircuitBreakerEvent {
    /// The name of the circuit breaker.
    pub instance: Arc<str>,
    /// When it happened: nanoseconds since the Unix epoch on the breaker's clock.
    pub at: u64,
    /// What happened.
    pub kind: CircuitBreakerEventKind,
}

/// What happened to a circuit breaker.
///
/// State changes and resets are always told. Everything else is told unless the breaker is
/// DISABLED or `FORCED_OPEN`: the latter refuses silently.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CircuitBreakerEventKind {
    /// A call succeeded.
    Success {
        /// How long it took.
        elapsed: Duration,
    },
    /// A call failed.
    Error {
        /// How long it took.
        elapsed: Duration,
        /// The error kinds: `panic` for a panic, none for a result that counts as a failure.
        kinds: &'static [&'static str],
    },
    /// A call ended in an error that counts neither as failure nor as success.
    IgnoredError {
        /// How long it took.
        elapsed: Duration,
        /// The error kinds.
        kinds: &'static [&'static str],
    },
    /// A call was refused.
    NotPermitted,
    /// The state changed, with what the breaker had counted just before.
    StateTransition {
        /// The state before.
        from: State,
        /// The state after.
        to: State,
        /// Failed calls in percent, -1 if there were too few calls.
        failure_rate: f32,
        /// Slow calls in percent, -1 if there were too few calls.
        slow_call_rate: f32,
        /// Calls in the window.
        buffered_calls: u64,
        /// Failed calls in the window.
        failed_calls: u64,
        /// Slow calls in the window.
        slow_calls: u64,
    },
    /// The breaker was reset.
    Reset,
    /// The failure rate reached its threshold.
    FailureRateExceeded {
        /// Failed calls in percent.
        rate: f32,
    },
    /// The slow call rate reached its threshold.
    SlowCallRateExceeded {
        /// Slow calls in percent.
        rate: f32,
    },
}

impl CircuitBreakerEventKind {
    /// Returns Resilience4j's name of the type.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Success { .. } => "SUCCESS",
            Self::Error { .. } => "ERROR",
            Self::IgnoredError { .. } => "IGNORED_ERROR",
            Self::NotPermitted => "NOT_PERMITTED",
            Self::StateTransition { .. } => "STATE_TRANSITION",
            Self::Reset => "RESET",
            Self::FailureRateExceeded { .. } => "FAILURE_RATE_EXCEEDED",
            Self::SlowCallRateExceeded { .. } => "SLOW_CALL_RATE_EXCEEDED",
        }
    }
}

impl CircuitBreakerEvent {
    /// The event of an engine's effect that came about at `now` unless it has a time of its own.
    pub(super) fn of(effect: &Effect, instance: Arc<str>, now: u64) -> Self {
        let (at, kind) = match *effect {
            Effect::Transition { from, to, at, before } => (
                at,
                CircuitBreakerEventKind::StateTransition {
                    from,
                    to,
                    failure_rate: before.rates.failure,
                    slow_call_rate: before.rates.slow,
                    buffered_calls: before.sums.calls,
                    failed_calls: before.sums.failed,
                    slow_calls: before.sums.slow,
                },
            ),
            Effect::FailureRateExceeded(rate) => {
                (now, CircuitBreakerEventKind::FailureRateExceeded { rate })
            }
            Effect::SlowCallRateExceeded(rate) => {
                (now, CircuitBreakerEventKind::SlowCallRateExceeded { rate })
            }
            Effect::Reset => (now, CircuitBreakerEventKind::Reset),
        };
        Self { instance, at, kind }
    }
}

impl Event for CircuitBreakerEvent {
    fn type_name(&self) -> &'static str {
        self.kind.type_name()
    }

    fn created_at_nanos(&self) -> u64 {
        self.at
    }

    fn instance(&self) -> &str {
        &self.instance
    }
}

impl fmt::Display for CircuitBreakerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CircuitBreaker '{}' ", self.instance)?;
        match &self.kind {
            CircuitBreakerEventKind::Success { elapsed } => {
                write!(f, "recorded a successful call after {} ms", elapsed.as_millis())
            }
            CircuitBreakerEventKind::Error { elapsed, kinds } => {
                write!(f, "recorded a failure after {} ms", elapsed.as_millis())?;
                list(f, kinds)
            }
            CircuitBreakerEventKind::IgnoredError { elapsed, kinds } => {
                write!(f, "ignored an error after {} ms", elapsed.as_millis())?;
                list(f, kinds)
            }
            CircuitBreakerEventKind::NotPermitted => f.write_str("refused a call"),
            CircuitBreakerEventKind::StateTransition {
                from,
                to,
                failure_rate,
                slow_call_rate,
                buffered_calls,
                failed_calls,
                slow_calls,
            } => write!(
                f,
                "changed state from {from} to {to} (failure rate {failure_rate} %, slow call rate \
                 {slow_call_rate} %; {buffered_calls} calls, {failed_calls} failed, \
                 {slow_calls} slow)"
            ),
            CircuitBreakerEventKind::Reset => f.write_str("was reset"),
            CircuitBreakerEventKind::FailureRateExceeded { rate } => {
                write!(f, "exceeded its failure rate threshold at {rate} %")
            }
            CircuitBreakerEventKind::SlowCallRateExceeded { rate } => {
                write!(f, "exceeded its slow call rate threshold at {rate} %")
            }
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, kinds: &[&str]) -> fmt::Result {
    if kinds.is_empty() {
        return Ok(());
    }
    write!(f, " ({})", kinds.join(", "))
}
