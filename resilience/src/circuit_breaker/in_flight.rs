use super::{Admission, CircuitBreaker};
use crate::{CallError, Rules};

/// A call that is being polled: says what its end was if nobody else does.
pub(super) struct InFlight<'a> {
    breaker: &'a CircuitBreaker,
    admission: Admission,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Waiting,
    /// The call's own code is running. [`std::thread::panicking`] would not tell a panic of this call
    /// from one of a sibling that takes this one down with it.
    Running,
    /// The end is told.
    Over,
}

impl<'a> InFlight<'a> {
    #[inline]
    pub(super) fn new(breaker: &'a CircuitBreaker, admission: Admission) -> Self {
        Self { breaker, admission, stage: Stage::Waiting }
    }

    /// Runs the call's own code.
    #[inline]
    pub(super) fn run<R>(&mut self, code: impl FnOnce() -> R) -> R {
        self.stage = Stage::Running;
        let result = code();
        self.stage = Stage::Waiting;
        result
    }

    /// Takes note of a success that needs no rule.
    #[inline]
    pub(super) fn succeed(&mut self) {
        self.stage = Stage::Over;
        self.breaker.succeed(&self.admission, || self.breaker.clock().now());
    }

    /// Takes note of how the call ended. The rules are the user's and may panic: the call is in flight
    /// meanwhile.
    pub(super) fn end<T, E>(&mut self, outcome: &Result<T, CallError<E>>, rules: &Rules<T, E>) {
        if outcome.is_ok() && rules.accept_all_results() {
            return self.succeed();
        }
        let report = rules.report(outcome, || self.breaker.config());
        self.stage = Stage::Over;
        self.breaker.end(self.admission, report, self.breaker.clock().now());
    }

    #[cold]
    fn abandon(&mut self) {
        let now = self.breaker.clock().now();
        self.breaker.abandon(self.admission, self.stage == Stage::Running, now);
    }
}

impl Drop for InFlight<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.stage != Stage::Over {
            self.abandon();
        }
    }
}
