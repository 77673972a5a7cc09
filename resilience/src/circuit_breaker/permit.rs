use super::{Admission, CircuitBreaker, Outcome, Report, admission::Grant};

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

    fn end(self, outcome: Outcome) {
        self.report(Report::new(outcome));
    }

    /// Counts the call the way the report says.
    pub(crate) fn report(mut self, report: Report) {
        let admission = self.admission;
        // The drop that follows finds nothing left to give up.
        self.admission.grant = Grant::Uncounted;
        self.breaker.end(admission, report, self.breaker.clock().now());
    }

    #[cfg(feature = "tower")]
    pub(crate) fn breaker(&self) -> &CircuitBreaker {
        &self.breaker
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
