use std::mem::ManuallyDrop;

use super::{Admission, CircuitBreaker, Report};

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

    #[inline]
    pub(super) fn succeed(self) {
        let call = ManuallyDrop::new(self);
        call.breaker.succeed(call.admission, || call.breaker.clock().now());
    }

    pub(super) fn end(self, report: Report) {
        let call = ManuallyDrop::new(self);
        call.breaker.end(call.admission, report, call.breaker.clock().now());
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let now = self.breaker.clock().now();
        self.breaker.abandon(self.admission, self.is_polling, now);
    }
}
