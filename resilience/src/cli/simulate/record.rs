use std::time::Duration;

use super::backend::Failed;
use crate::{CallError, Error, circuit_breaker::State};

/// What happened, second by second.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) steps: Vec<Step>,
    pub(super) transitions: Vec<Transition>,
    /// How many more there were than those.
    pub(super) untold: u64,
    /// Calls that were under way at the end.
    pub(super) unfinished: usize,
    /// Whether there is a circuit breaker.
    pub(super) has_breaker: bool,
}

/// A change of the circuit breaker's state.
#[derive(Debug, Clone)]
pub(super) struct Transition {
    pub(super) at: Duration,
    pub(super) from: State,
    pub(super) to: State,
}

/// What happened in one second, and how it looked at its end.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) arrived: u64,
    /// Attempts that reached the backend.
    pub(super) reached: u64,
    pub(super) ended: Ended,
    /// How long the calls took that ended, sorted once the second is over.
    latencies: Vec<Duration>,
    /// Of the circuit breaker, where there is one.
    pub(super) state: Option<State>,
    /// In percent; `None` while there is none.
    pub(super) failure_rate: Option<f32>,
}

/// How calls ended, as the caller sees it.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Ended {
    pub(super) ok: u64,
    pub(super) failed: u64,
    pub(super) timed_out: u64,
    /// By an open circuit breaker.
    pub(super) not_permitted: u64,
    pub(super) rate_limited: u64,
    pub(super) bulkhead_full: u64,
}

impl Ended {
    pub(super) fn count(&mut self, outcome: &Result<(), CallError<Failed>>) {
        let counter = match outcome {
            Ok(()) => &mut self.ok,
            Err(CallError::Resilience(Error::TimedOut(_))) => &mut self.timed_out,
            Err(CallError::Resilience(Error::CallNotPermitted(_))) => &mut self.not_permitted,
            Err(CallError::Resilience(Error::RequestNotPermitted(_))) => &mut self.rate_limited,
            Err(CallError::Resilience(Error::BulkheadFull(_))) => &mut self.bulkhead_full,
            Err(_) => &mut self.failed,
        };
        *counter += 1;
    }

    pub(super) fn refused(&self) -> u64 {
        self.not_permitted + self.rate_limited + self.bulkhead_full
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            ok: self.ok + other.ok,
            failed: self.failed + other.failed,
            timed_out: self.timed_out + other.timed_out,
            not_permitted: self.not_permitted + other.not_permitted,
            rate_limited: self.rate_limited + other.rate_limited,
            bulkhead_full: self.bulkhead_full + other.bulkhead_full,
        }
    }
}

impl Step {
    pub(super) fn end(&mut self, outcome: &Result<(), CallError<Failed>>, latency: Duration) {
        self.ended.count(outcome);
        self.latencies.push(latency);
    }

    /// Closes the second.
    pub(super) fn close(&mut self) {
        self.latencies.sort_unstable();
    }

    /// The latency that this part of the calls stayed within; `None` without calls.
    pub(super) fn percentile(&self, percent: usize) -> Option<Duration> {
        let rank = (self.latencies.len() * percent).div_ceil(100);
        self.latencies.get(rank.saturating_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let mut step = Step::default();
        assert_eq!(step.percentile(50), None);
        for ms in (1..=200).rev() {
            step.end(&Ok(()), Duration::from_millis(ms));
        }
        step.close();
        assert_eq!(step.percentile(50), Some(Duration::from_millis(100)));
        assert_eq!(step.percentile(99), Some(Duration::from_millis(198)));
    }
}
