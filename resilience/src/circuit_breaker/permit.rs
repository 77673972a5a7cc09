use std::{mem::ManuallyDrop, time::Duration};

use super::{CircuitBreaker, probes::Slot};

/// How a call counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
    /// It is to be taken for neither; a probe gives its place back.
    Ignored,
}

/// What a call that was let in has to bring back. It must reach `exit` or `cancel` exactly once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admission {
    /// Nanoseconds on the breaker's clock.
    pub(crate) started: u64,
    /// The stay in a state that let the call in.
    pub(super) generation: u64,
    pub(super) grant: Grant,
}

/// What an admission was given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Grant {
    /// The breaker does not count: nothing is to be reported.
    Uncounted,
    /// The call is counted and holds nothing.
    Free,
    /// The call holds one of a half-open breaker's places.
    Probe(Slot),
}

impl Grant {
    pub(super) fn slot(self) -> Option<Slot> {
        match self {
            Grant::Probe(slot) => Some(slot),
            Grant::Free | Grant::Uncounted => None,
        }
    }
}

/// How a call that was let in ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    pub(crate) outcome: Outcome,
    /// The kinds of the error, its own first; none for a success.
    pub(crate) kinds: &'static [&'static str],
    /// For how long the callee asked to be left alone; zero is not at all.
    pub(crate) open_for: Option<Duration>,
}

impl Report {
    pub(crate) fn new(outcome: Outcome) -> Self {
        Self { outcome, kinds: &[], open_for: None }
    }
}

/// The right to make one call, from [`CircuitBreaker::try_acquire`].
///
/// Say how the call ended with [`success`](Permit::success), [`failure`](Permit::failure) or
/// [`ignore`](Permit::ignore). Dropping the permit instead means that the call was given up: the
/// place is free again and nothing is counted, but in [`Totals::cancelled`].
///
/// [`Totals::cancelled`]: super::Totals::cancelled
///
/// # Examples
///
/// ```
/// use resilience::{CircuitBreaker, CircuitBreakerConfig};
///
/// let breaker = CircuitBreaker::new("payment", CircuitBreakerConfig::default());
/// let permit = breaker.try_acquire()?;
/// // ... the call ...
/// permit.failure();
/// assert_eq!(breaker.metrics().failed_calls, 1);
/// # Ok::<(), resilience::CallNotPermitted>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping the permit gives up the call"]
pub struct Permit {
    breaker: CircuitBreaker,
    admission: Admission,
}

impl Permit {
    pub(super) fn new(breaker: CircuitBreaker, admission: Admission) -> Self {
        Self { breaker, admission }
    }

    /// Counts the call as a success.
    pub fn success(self) {
        self.end(Outcome::Success);
    }

    /// Counts the call as a failure.
    pub fn failure(self) {
        self.end(Outcome::Failure);
    }

    /// Counts the call neither as a success nor as a failure.
    pub fn ignore(self) {
        self.end(Outcome::Ignored);
    }

    fn end(mut self, outcome: Outcome) {
        let admission = self.admission;
        // The drop that follows finds nothing left to give up.
        self.admission.grant = Grant::Uncounted;
        self.breaker.exit(admission, Report::new(outcome), self.breaker.clock().now());
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Grant::Uncounted = self.admission.grant {
            return;
        }
        self.breaker.cancel(self.admission, self.breaker.clock().now());
    }
}

/// A call that is being polled: says what its end was if nobody else does.
pub(super) struct InFlight<'a> {
    breaker: &'a CircuitBreaker,
    admission: Admission,
    /// Whether the call's own code is running. [`std::thread::panicking`] would not tell a panic
    /// of this call from one of a sibling that takes this one down with it.
    pub(super) is_polling: bool,
}

impl<'a> InFlight<'a> {
    pub(super) fn new(breaker: &'a CircuitBreaker, admission: Admission) -> Self {
        Self { breaker, admission, is_polling: false }
    }

    pub(super) fn end(self, outcome: Outcome) {
        let call = ManuallyDrop::new(self);
        call.breaker.exit(call.admission, Report::new(outcome), call.breaker.clock().now());
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let now = self.breaker.clock().now();
        if self.is_polling {
            let report = Report { kinds: &["panic"], ..Report::new(Outcome::Failure) };
            self.breaker.exit(self.admission, report, now);
        } else {
            self.breaker.cancel(self.admission, now);
        }
    }
}
