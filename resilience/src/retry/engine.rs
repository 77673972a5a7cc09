//! The decision after an attempt: what one call has been through, and whether it goes on.

use std::{borrow::Cow, time::Duration};

use super::{RetryBudget, RetryConfig};
use crate::{clock::saturating_nanos, error::Error, kind::is_listed};

/// Where one call stands. Every call has its own.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    max_attempts: u32,
    /// Attempts that asked for another one.
    failed: u32,
    /// The kind of the last error, if there was one.
    last_error: Option<&'static str>,
    /// When `total_timeout` is over, in nanoseconds on the instance's clock; the end of time where there
    /// is none.
    end: u64,
    /// When the deadline is over that the call runs under, likewise.
    deadline: u64,
    /// What further attempts are taken from.
    budget: Option<RetryBudget>,
}

/// What is known of an error when it is decided whether to try again.
#[derive(Debug)]
pub(crate) struct Failure<'a> {
    /// The kinds of the error, its own first.
    pub(crate) kinds: &'static [&'static str],
    /// The refusal that the error is or carries.
    pub(crate) refusal: Option<Cow<'a, Error>>,
    /// What `retry_if` says, where there is one and the error is a business error.
    pub(crate) wanted: Option<bool>,
    /// What `ignore` says.
    pub(crate) ignored: bool,
    /// What `retry_after` says.
    pub(crate) retry_after: Option<Duration>,
}

/// What happens after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The outcome stands: a success, or an error that is not retried.
    Stop,
    /// Another attempt after this wait.
    Again(Duration),
    /// The outcome stands because no attempt is left.
    Exhausted,
    /// The interval ended the retry.
    Ended,
    /// The next attempt would start too late.
    OutOfTime,
    /// The budget has no retry left.
    OverBudget,
}

impl Progress {
    /// Further attempts must be able to start before `deadline`, if there is one.
    #[inline]
    pub(crate) fn new(max_attempts: u32, deadline: Option<u64>) -> Self {
        let deadline = deadline.unwrap_or(u64::MAX);
        Self { max_attempts, failed: 0, last_error: None, end: u64::MAX, deadline, budget: None }
    }

    /// Further attempts must be able to start before `end`, too.
    pub(crate) fn end_at(&mut self, end: u64) {
        self.end = end;
    }

    /// Takes further attempts from a budget.
    pub(crate) fn take_from(&mut self, budget: &RetryBudget) {
        self.budget = Some(budget.clone());
    }

    /// When `total_timeout` is over.
    pub(crate) fn end(&self) -> Option<u64> {
        Some(self.end).filter(|end| *end != u64::MAX)
    }

    /// What becomes of a next attempt once everything else speaks for it: it must be able to start in
    /// time, and the budget, which is asked last, must have a retry for it.
    pub(crate) fn grant(&self, step: Step, now: impl FnOnce() -> u64) -> Step {
        let Step::Again(wait) = step else { return step };
        let end = self.end.min(self.deadline);
        if end != u64::MAX {
            let start = now().saturating_add(saturating_nanos(wait));
            // At the end itself no time is left for the attempt.
            if start >= end {
                return Step::OutOfTime;
            }
        }
        match &self.budget {
            Some(budget) if !budget.withdraw() => Step::OverBudget,
            _ => step,
        }
    }

    /// Whether no attempt can follow the one that comes now.
    pub(crate) fn is_last_attempt(&self) -> bool {
        self.failed.saturating_add(1) >= self.max_attempts
    }

    /// Attempts so far that asked for another one.
    pub(crate) fn failed(&self) -> u32 {
        self.failed
    }

    pub(crate) fn last_error(&self) -> Option<&'static str> {
        self.last_error
    }

    /// An attempt ended in an error. `random` is from 0 up to but not including 1.
    pub(crate) fn on_error(
        &mut self,
        config: &RetryConfig,
        failure: &Failure<'_>,
        random: f64,
    ) -> Step {
        self.last_error = failure.kinds.first().copied().or(Some("error"));
        if !is_retryable(config, failure) {
            return Step::Stop;
        }
        let asked =
            failure.refusal.as_deref().and_then(Error::retry_after).max(failure.retry_after);
        self.again(config, asked, random)
    }

    /// An attempt ended in a result that `retry_result` does not accept.
    pub(crate) fn on_unwanted_result(&mut self, config: &RetryConfig, random: f64) -> Step {
        self.again(config, None, random)
    }

    fn again(&mut self, config: &RetryConfig, asked: Option<Duration>, random: f64) -> Step {
        self.failed = self.failed.saturating_add(1);
        if self.failed >= self.max_attempts {
            return Step::Exhausted;
        }
        match config.interval().wait(self.failed, random) {
            Some(wait) => {
                Step::Again(wait.max(asked.unwrap_or_default().min(config.retry_after_max())))
            }
            None => Step::Ended,
        }
    }
}

/// Resilience4j's rule, (list or predicate; neither is all) and not ignored, with one exception:
/// what an open breaker refused is retried only where the list says so. Refusals follow the lists
/// alone, predicates see business errors only.
fn is_retryable(config: &RetryConfig, failure: &Failure<'_>) -> bool {
    let listed = |list: &[String]| is_listed(list, failure.kinds, failure.refusal.as_deref());
    if failure.ignored || listed(config.ignore_errors()) {
        return false;
    }
    let retried = listed(config.retry_errors());
    match failure.refusal.as_deref() {
        Some(Error::CallNotPermitted(_)) => retried,
        Some(_) => retried || config.retry_errors().is_empty(),
        None => match failure.wanted {
            Some(wanted) => wanted || retried,
            None => retried || config.retry_errors().is_empty(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        error::{BulkheadFull, CallNotPermitted, RequestNotPermitted},
        retry::RetryBudgetConfig,
    };

    const ERROR: Failure<'_> =
        Failure { kinds: &["io"], refusal: None, wanted: None, ignored: false, retry_after: None };

    fn config(attempts: u32) -> RetryConfig {
        RetryConfig::builder()
            .max_attempts(attempts)
            .wait_duration(Duration::from_millis(100))
            .build()
            .unwrap()
    }

    fn refusal(error: &Error) -> Failure<'_> {
        Failure { kinds: error.kinds(), refusal: Some(Cow::Borrowed(error)), ..ERROR }
    }

    #[test]
    fn three_attempts_are_three_calls() {
        let config = config(3);
        let mut progress = Progress::new(3, None);
        let wait = Duration::from_millis(100);
        assert!(!progress.is_last_attempt());
        assert_eq!(progress.on_error(&config, &ERROR, 0.0), Step::Again(wait));
        assert_eq!(progress.on_error(&config, &ERROR, 0.0), Step::Again(wait));
        assert!(progress.is_last_attempt());
        assert_eq!(progress.on_error(&config, &ERROR, 0.0), Step::Exhausted);
    }

    #[test]
    fn an_attempt_starts_before_the_end_and_the_deadline() {
        let again = Step::Again(Duration::from_nanos(100));
        let step = |end: Option<u64>, deadline, now| {
            let mut progress = Progress::new(3, deadline);
            progress.end_at(end.unwrap_or(u64::MAX));
            progress.grant(again, || now)
        };
        assert_eq!(step(None, None, u64::MAX), again);
        assert_eq!(step(Some(300), None, 199), again);
        assert_eq!(step(Some(300), None, 200), Step::OutOfTime);
        assert_eq!(step(Some(300), Some(400), 200), Step::OutOfTime);
        assert_eq!(step(None, Some(300), 199), again);
        assert_eq!(step(None, Some(300), 200), Step::OutOfTime);
        assert_eq!(step(Some(u64::MAX - 1), None, u64::MAX - 9), Step::OutOfTime, "saturates");
    }

    #[test]
    fn the_budget_is_asked_only_for_an_attempt_that_could_start() {
        let one = RetryBudgetConfig::builder().ratio(1.0).min_per_second(0).build().unwrap();
        let budget = RetryBudget::new("b", one);
        budget.deposit();
        let mut progress = Progress::new(3, None);
        progress.take_from(&budget);
        let again = Step::Again(Duration::ZERO);
        assert_eq!(progress.grant(Step::Exhausted, || 0), Step::Exhausted);
        let mut late = progress.clone();
        late.end_at(1);
        assert_eq!(late.grant(again, || 2), Step::OutOfTime);
        assert_eq!(budget.metrics().available, 1);
        assert_eq!(progress.grant(again, || 0), again);
        assert_eq!(progress.grant(again, || 0), Step::OverBudget);
    }

    #[test]
    fn an_open_breaker_is_not_retried_unless_the_list_says_so() {
        let open =
            CallNotPermitted::new("b".into(), crate::circuit_breaker::State::Open, None).into();
        let mut progress = Progress::new(3, None);
        assert_eq!(progress.on_error(&config(3), &refusal(&open), 0.0), Step::Stop);
        let config = RetryConfig::builder().retry_errors(["call_not_permitted"]).build().unwrap();
        assert!(matches!(progress.on_error(&config, &refusal(&open), 0.0), Step::Again(_)));
    }

    #[test]
    fn other_refusals_are_retried_like_errors_whatever_the_predicate_says() {
        let full = BulkheadFull::new("b".into()).into();
        let failure = Failure { wanted: Some(false), ..refusal(&full) };
        let step = Progress::new(3, None).on_error(&config(3), &failure, 0.0);
        assert!(matches!(step, Step::Again(_)));
    }

    #[test]
    fn ignored_wins_over_listed() {
        let config =
            RetryConfig::builder().retry_errors(["io"]).ignore_errors(["io"]).build().unwrap();
        assert_eq!(Progress::new(3, None).on_error(&config, &ERROR, 0.0), Step::Stop);
    }

    #[test]
    fn list_or_predicate_makes_an_error_retryable() {
        let listed = RetryConfig::builder().retry_errors(["timeout"]).build().unwrap();
        let step = |config: &RetryConfig, wanted| {
            Progress::new(3, None).on_error(config, &Failure { wanted, ..ERROR }, 0.0) != Step::Stop
        };
        assert!(!step(&listed, None));
        assert!(step(&listed, Some(true)));
        assert!(!step(&config(3), Some(false)));
        assert!(step(&config(3), None));
    }

    #[test]
    fn a_refusal_or_the_predicate_may_ask_for_a_longer_wait_up_to_the_bound() {
        let seconds = Duration::from_secs;
        let limited = RequestNotPermitted::new("r".into(), Some(seconds(5))).into();
        let mut progress = Progress::new(9, None);
        let config = config(9);
        let step = progress.on_error(&config, &refusal(&limited), 0.0);
        assert_eq!(step, Step::Again(seconds(5)));
        let failure = Failure { retry_after: Some(seconds(86_400)), ..ERROR };
        assert_eq!(progress.on_error(&config, &failure, 0.0), Step::Again(seconds(30)));
        let failure = Failure { retry_after: Some(Duration::ZERO), ..ERROR };
        let step = progress.on_error(&config, &failure, 0.0);
        assert_eq!(step, Step::Again(Duration::from_millis(100)));
    }
}
