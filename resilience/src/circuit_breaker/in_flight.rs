use std::mem::ManuallyDrop;

use super::{Admission, CircuitBreaker};
use crate::{CallError, Rules};

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

    /// Takes note of how the call ended. The rules are the user's and may panic: the call is in flight
    /// meanwhile.
    #[inline]
    pub(super) fn end<T, E>(self, outcome: &Result<T, CallError<E>>, rules: &Rules<T, E>) {
        if outcome.is_ok() && rules.accept_all_results() {
            let call = ManuallyDrop::new(self);
            call.breaker.succeed(call.admission, || call.breaker.clock().now());
        } else {
            let report = rules.report(outcome, || self.breaker.config());
            let call = ManuallyDrop::new(self);
            call.breaker.end(call.admission, report, call.breaker.clock().now());
        }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let now = self.breaker.clock().now();
        self.breaker.abandon(self.admission, self.is_polling, now);
    }
}
