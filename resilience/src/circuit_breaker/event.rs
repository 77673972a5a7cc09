use std::{fmt, time::Duration};

use super::{State, engine::Effect};
use crate::{
    events::{EventKind, InstanceEvent, RecentEvent},
    sealed::SealedEvent,
};

/// Something that happened at a [`CircuitBreaker`](super::CircuitBreaker).
pub type CircuitBreakerEvent = InstanceEvent<CircuitBreakerEventKind>;

/// What happened at a [`CircuitBreaker`](super::CircuitBreaker).
///
/// State changes and resets are always told. Everything else is told unless the breaker is
/// DISABLED or `FORCED_OPEN`: the latter refuses silently.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CircuitBreakerEventKind {
    /// A call succeeded: `SUCCESS`.
    Success {
        /// How long it took.
        elapsed: Duration,
    },
    /// A call failed: `ERROR`.
    Error {
        /// How long it took.
        elapsed: Duration,
        /// The error kinds: `panic` for a panic, none for a result that counts as a failure.
        kinds: &'static [&'static str],
    },
    /// A call ended in an error that counts neither as failure nor as success: `IGNORED_ERROR`.
    IgnoredError {
        /// How long it took.
        elapsed: Duration,
        /// The error kinds.
        kinds: &'static [&'static str],
    },
    /// A call was refused: `NOT_PERMITTED`.
    NotPermitted,
    /// The state changed: `STATE_TRANSITION`, with what the breaker had counted just before.
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
        /// Whether the processes that share a global breaker have decided it together.
        shared: bool,
    },
    /// The breaker was reset: `RESET`.
    Reset,
    /// The failure rate reached its threshold: `FAILURE_RATE_EXCEEDED`.
    FailureRateExceeded {
        /// Failed calls in percent.
        rate: f32,
    },
    /// The slow call rate reached its threshold: `SLOW_CALL_RATE_EXCEEDED`.
    SlowCallRateExceeded {
        /// Slow calls in percent.
        rate: f32,
    },
}

impl CircuitBreakerEventKind {
    /// What an engine's effect that came about at `now` means, and when it happened: then, unless the
    /// effect has a time of its own.
    pub(super) fn of(effect: &Effect, now: u64) -> (u64, Self) {
        match *effect {
            Effect::Transition { from, to, at, before, shared } => (
                at,
                Self::StateTransition {
                    from,
                    to,
                    failure_rate: before.rates.failure,
                    slow_call_rate: before.rates.slow,
                    buffered_calls: before.sums.calls,
                    failed_calls: before.sums.failed,
                    slow_calls: before.sums.slow,
                    shared,
                },
            ),
            Effect::FailureRateExceeded(rate) => (now, Self::FailureRateExceeded { rate }),
            Effect::SlowCallRateExceeded(rate) => (now, Self::SlowCallRateExceeded { rate }),
            Effect::Reset => (now, Self::Reset),
        }
    }
}

impl SealedEvent for CircuitBreakerEventKind {
    fn add_details(&self, recent: &mut RecentEvent) {
        match self {
            Self::Success { elapsed } => recent.duration = Some(*elapsed),
            Self::Error { elapsed, kinds } | Self::IgnoredError { elapsed, kinds } => {
                recent.duration = Some(*elapsed);
                recent.error = (!kinds.is_empty()).then(|| kinds.join(", "));
            }
            Self::StateTransition { from, to, .. } => {
                recent.transition = Some((from.as_str(), to.as_str()));
            }
            Self::NotPermitted
            | Self::Reset
            | Self::FailureRateExceeded { .. }
            | Self::SlowCallRateExceeded { .. } => {}
        }
    }
}

impl EventKind for CircuitBreakerEventKind {
    const PATTERN: &'static str = "CircuitBreaker";

    fn type_name(&self) -> &'static str {
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

    fn comes_with_calls(&self) -> bool {
        matches!(
            self,
            Self::Success { .. }
                | Self::Error { .. }
                | Self::IgnoredError { .. }
                | Self::NotPermitted
        )
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success { elapsed } => {
                write!(f, "recorded a successful call after {} ms", elapsed.as_millis())
            }
            Self::Error { elapsed, kinds } => {
                write!(f, "recorded a failure after {} ms", elapsed.as_millis())?;
                list(f, kinds)
            }
            Self::IgnoredError { elapsed, kinds } => {
                write!(f, "ignored an error after {} ms", elapsed.as_millis())?;
                list(f, kinds)
            }
            Self::NotPermitted => f.write_str("refused a call"),
            Self::StateTransition {
                from,
                to,
                failure_rate,
                slow_call_rate,
                buffered_calls,
                failed_calls,
                slow_calls,
                shared,
            } => {
                let with_others = if *shared { " with the other processes" } else { "" };
                write!(f, "changed state from {from} to {to}{with_others} (")?;
                if let Some((failed, slow)) = defined(*failure_rate).zip(defined(*slow_call_rate)) {
                    write!(f, "failure rate {failed} %, slow call rate {slow} %; ")?;
                }
                write!(f, "{buffered_calls} calls, {failed_calls} failed, {slow_calls} slow)")
            }
            Self::Reset => f.write_str("was reset"),
            Self::FailureRateExceeded { rate } => {
                write!(f, "exceeded its failure rate threshold at {rate} %")
            }
            Self::SlowCallRateExceeded { rate } => {
                write!(f, "exceeded its slow call rate threshold at {rate} %")
            }
        }
    }
}

/// A rate, unless it is the -1 of too few calls.
pub(super) fn defined(rate: f32) -> Option<f32> {
    (rate >= 0.0).then_some(rate)
}

fn list(f: &mut fmt::Formatter<'_>, kinds: &[&str]) -> fmt::Result {
    if kinds.is_empty() {
        return Ok(());
    }
    write!(f, " ({})", kinds.join(", "))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::events::Events;

    #[test]
    fn every_event_says_in_words_what_happened() {
        let elapsed = Duration::from_millis(7);
        let kinds: &[_] = &["io", "connect"];
        let transition = CircuitBreakerEventKind::StateTransition {
            from: State::Closed,
            to: State::Open,
            failure_rate: 50.0,
            slow_call_rate: 25.5,
            buffered_calls: 8,
            failed_calls: 4,
            slow_calls: 2,
            shared: false,
        };
        let by_hand = CircuitBreakerEventKind::StateTransition {
            from: State::Closed,
            to: State::Open,
            failure_rate: -1.0,
            slow_call_rate: -1.0,
            buffered_calls: 1,
            failed_calls: 0,
            slow_calls: 0,
            shared: false,
        };
        let with_others = CircuitBreakerEventKind::StateTransition {
            from: State::Open,
            to: State::Closed,
            failure_rate: -1.0,
            slow_call_rate: -1.0,
            buffered_calls: 0,
            failed_calls: 0,
            slow_calls: 0,
            shared: true,
        };
        let texts = [
            (by_hand, "changed state from CLOSED to OPEN (1 calls, 0 failed, 0 slow)"),
            (
                with_others,
                "changed state from OPEN to CLOSED with the other processes (0 calls, 0 failed, 0 slow)",
            ),
            (CircuitBreakerEventKind::Success { elapsed }, "recorded a successful call after 7 ms"),
            (
                CircuitBreakerEventKind::Error { elapsed, kinds },
                "recorded a failure after 7 ms (io, connect)",
            ),
            (
                CircuitBreakerEventKind::Error { elapsed, kinds: &[] },
                "recorded a failure after 7 ms",
            ),
            (
                CircuitBreakerEventKind::IgnoredError { elapsed, kinds },
                "ignored an error after 7 ms (io, connect)",
            ),
            (CircuitBreakerEventKind::NotPermitted, "refused a call"),
            (
                transition,
                "changed state from CLOSED to OPEN (failure rate 50 %, slow call rate 25.5 %; \
                 8 calls, 4 failed, 2 slow)",
            ),
            (CircuitBreakerEventKind::Reset, "was reset"),
            (
                CircuitBreakerEventKind::FailureRateExceeded { rate: 50.0 },
                "exceeded its failure rate threshold at 50 %",
            ),
            (
                CircuitBreakerEventKind::SlowCallRateExceeded { rate: 100.0 },
                "exceeded its slow call rate threshold at 100 %",
            ),
        ];
        let name = Arc::from("b");
        for (kind, text) in texts {
            let event = Events::new(1).event(&name, 0, kind);
            assert_eq!(event.to_string(), format!("CircuitBreaker 'b' {text}"));
        }
    }

    #[test]
    fn a_kept_event_tells_how_long_the_call_took_and_what_was_wrong() {
        let elapsed = Duration::from_millis(3);
        let (events, name) = (Events::new(4), Arc::from("b"));
        events.capture(true);
        for kind in [
            CircuitBreakerEventKind::Success { elapsed },
            CircuitBreakerEventKind::Error { elapsed, kinds: &[] },
            CircuitBreakerEventKind::IgnoredError { elapsed, kinds: &["timeout", "io"] },
            CircuitBreakerEventKind::NotPermitted,
        ] {
            events.push(events.event(&name, 0, kind));
        }
        let kept = events.recent().into_iter().map(|event| (event.duration, event.error));
        assert_eq!(
            kept.collect::<Vec<_>>(),
            [
                (Some(elapsed), None),
                (Some(elapsed), None),
                (Some(elapsed), Some("timeout, io".to_owned())),
                (None, None),
            ],
        );
    }

    #[test]
    fn changes_of_state_and_exceeded_rates_do_not_come_with_every_call() {
        let elapsed = Duration::ZERO;
        assert!(CircuitBreakerEventKind::Success { elapsed }.comes_with_calls());
        assert!(CircuitBreakerEventKind::Error { elapsed, kinds: &[] }.comes_with_calls());
        assert!(CircuitBreakerEventKind::IgnoredError { elapsed, kinds: &[] }.comes_with_calls());
        assert!(CircuitBreakerEventKind::NotPermitted.comes_with_calls());
        assert!(!CircuitBreakerEventKind::Reset.comes_with_calls());
        assert!(!CircuitBreakerEventKind::FailureRateExceeded { rate: 50.0 }.comes_with_calls());
        assert!(!CircuitBreakerEventKind::SlowCallRateExceeded { rate: 50.0 }.comes_with_calls());
    }
}
