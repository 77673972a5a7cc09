//! Which outcomes count as failures, and which are worth another attempt.

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use crate::{
    circuit_breaker::{Answers, CircuitBreakerConfig, Outcome, Report},
    error::{CallError, Error},
    kind::ErrorKind,
    retry::Failure,
};

/// What is known of a business error beyond its type.
///
/// # Examples
///
/// ```
/// use resilience::{Facts, Rules};
///
/// enum Failed { Declined, Unreachable }
///
/// let rules = Rules::<(), Failed>::new().facts(|error| match error {
///     Failed::Declined => Facts::new(&["declined", "http_4xx"]),
///     Failed::Unreachable => Facts::new(&["connect", "io"]),
/// });
/// # let _ = rules;
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Facts<'e> {
    /// The kinds of the error, its own first.
    pub kinds: &'static [&'static str],
    /// The refusal of a nested protected call that travels inside the error.
    pub refusal: Option<Cow<'e, Error>>,
}

impl<'e> Facts<'e> {
    /// The facts of an error of these kinds, its own first, without a refusal inside.
    pub const fn new(kinds: &'static [&'static str]) -> Self {
        Self { kinds, refusal: None }
    }

    /// The same of an error with this refusal inside, if there is one.
    #[must_use]
    pub fn with_refusal(mut self, refusal: Option<Cow<'e, Error>>) -> Self {
        self.refusal = refusal;
        self
    }
}

/// Which outcomes count as failures, and which are worth another attempt.
///
/// Without any rule every error is a failure and is retried, and every result is a success, as in
/// Resilience4j. The rules are plain functions that see business errors only; what the library
/// itself refuses follows the configuration's lists of error kinds.
///
// Under `doc` only, as the file is outside of the package: no build depends on it.
#[cfg_attr(doc, doc = include_str!("../../docs/failures.md"))]
///
/// # Examples
///
/// ```
/// use resilience::{CircuitBreaker, CircuitBreakerConfig, Rules, Stack};
///
/// #[derive(Debug, PartialEq)]
/// enum PayError { Declined, Unreachable }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let breaker = CircuitBreaker::new("payment", CircuitBreakerConfig::default());
/// let stack = Stack::builder().circuit_breaker(breaker.clone()).build();
/// let rules = Rules::new().ignore(|error| *error == PayError::Declined);
/// let declined = stack.call_by(&rules, || async { Err::<(), _>(PayError::Declined) }).await;
/// assert!(declined.is_err());
/// assert_eq!(breaker.metrics().failed_calls, 0);
/// # }
/// ```
pub struct Rules<T, E> {
    record: Option<fn(&E) -> bool>,
    ignore: Option<fn(&E) -> bool>,
    record_result: Option<fn(&T) -> bool>,
    open_for: Option<fn(&E) -> Option<Duration>>,
    retry_if: Option<fn(&E) -> bool>,
    retry_ignore: Option<fn(&E) -> bool>,
    retry_result: Option<fn(&T) -> bool>,
    retry_after: Option<fn(&E) -> Option<Duration>>,
    classify: Option<fn(&T) -> Outcome>,
    once: bool,
    facts: Option<for<'e> fn(&'e E) -> Facts<'e>>,
}

impl<T, E> Rules<T, E> {
    /// No rules.
    pub const fn new() -> Self {
        Self {
            record: None,
            ignore: None,
            record_result: None,
            open_for: None,
            retry_if: None,
            retry_ignore: None,
            retry_result: None,
            retry_after: None,
            classify: None,
            once: false,
            facts: None,
        }
    }

    /// Circuit breaker: only errors for which this holds, or whose kind is on `record_errors`, are
    /// failures; the others count as successes.
    #[must_use]
    pub fn record(mut self, rule: fn(&E) -> bool) -> Self {
        self.record = Some(rule);
        self
    }

    /// Circuit breaker: errors for which this holds are neither failure nor success.
    #[must_use]
    pub fn ignore(mut self, rule: fn(&E) -> bool) -> Self {
        self.ignore = Some(rule);
        self
    }

    /// Circuit breaker: results for which this holds are failures.
    #[must_use]
    pub fn record_result(mut self, rule: fn(&T) -> bool) -> Self {
        self.record_result = Some(rule);
        self
    }

    /// Circuit breaker: an error that says how long to stay away opens a closed breaker at once.
    #[must_use]
    pub fn open_for(mut self, rule: fn(&E) -> Option<Duration>) -> Self {
        self.open_for = Some(rule);
        self
    }

    /// Retry: only errors for which this holds, or whose kind is on `retry_errors`, are retried.
    #[must_use]
    pub fn retry_if(mut self, rule: fn(&E) -> bool) -> Self {
        self.retry_if = Some(rule);
        self
    }

    /// Retry: errors for which this holds end the call.
    #[must_use]
    pub fn retry_ignore(mut self, rule: fn(&E) -> bool) -> Self {
        self.retry_ignore = Some(rule);
        self
    }

    /// Retry: results for which this holds ask for another attempt.
    #[must_use]
    pub fn retry_result(mut self, rule: fn(&T) -> bool) -> Self {
        self.retry_result = Some(rule);
        self
    }

    /// Retry: an error that says when to come back lengthens the wait up to `retry_after_max`.
    #[must_use]
    pub fn retry_after(mut self, rule: fn(&E) -> Option<Duration>) -> Self {
        self.retry_after = Some(rule);
        self
    }

    /// Circuit breaker and retry: says how a result counts; only an [`Outcome::Failure`] is retried.
    ///
    /// Results that [`record_result`](Rules::record_result) or
    /// [`retry_result`](Rules::retry_result) name are failures, or retried, besides.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{CircuitBreaker, CircuitBreakerConfig, Outcome, Rules};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let breaker = CircuitBreaker::new("search", CircuitBreakerConfig::default());
    /// let rules = Rules::new().classify(|status: &u16| match status {
    ///     500.. => Outcome::Failure,
    ///     404 => Outcome::Ignored,
    ///     _ => Outcome::Success,
    /// });
    /// let stack = resilience::Stack::builder().circuit_breaker(breaker.clone()).build();
    /// for status in [200, 404, 503] {
    ///     let answer = stack.call_by(&rules, || async move { Ok::<_, std::io::Error>(status) });
    ///     assert_eq!(answer.await.unwrap(), status);
    /// }
    /// assert_eq!(breaker.metrics().failed_calls, 1);
    /// assert_eq!(breaker.metrics().buffered_calls, 2);
    /// # }
    /// ```
    #[must_use]
    pub fn classify(mut self, rule: fn(&T) -> Outcome) -> Self {
        self.classify = Some(rule);
        self
    }

    /// Retry: this call has one attempt, whatever its outcome and the configuration's lists: for
    /// what must not be sent twice.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// The same, or of [`once`](Self::once) where the call can have no other attempt.
    pub(crate) fn while_repeatable(&self, can_repeat: bool) -> Self {
        Self { once: self.once || !can_repeat, ..*self }
    }

    /// Takes the kinds of errors from their [`ErrorKind`] implementation.
    #[must_use]
    pub fn kinds(self) -> Self
    where
        E: ErrorKind,
    {
        self.facts(|error| Facts { kinds: error.kinds(), refusal: error.refusal() })
    }

    /// Takes kinds and nested refusals of errors from a function.
    #[must_use]
    pub fn facts(mut self, facts: for<'e> fn(&'e E) -> Facts<'e>) -> Self {
        self.facts = Some(facts);
        self
    }

    /// What is known of an error, and the error itself if the rules may be asked about it: they
    /// see no refusal, also when it travels inside a business error.
    fn inspect<'e>(&self, error: &'e CallError<E>) -> (Facts<'e>, Option<&'e E>) {
        let error = match error {
            CallError::Resilience(refusal) => {
                let facts = Facts { kinds: refusal.kinds(), refusal: Some(Cow::Borrowed(refusal)) };
                return (facts, None);
            }
            CallError::Inner(error) => error,
        };
        let mut facts = self.facts.map_or_else(Facts::default, |facts| facts(error));
        if let (Some(refusal), []) = (&facts.refusal, facts.kinds) {
            facts.kinds = refusal.kinds();
        }
        let business = facts.refusal.is_none().then_some(error);
        (facts, business)
    }

    fn verdict(&self, value: &T) -> Outcome {
        self.classify.map_or(Outcome::Success, |rule| rule(value))
    }

    /// Whether no rule is about results: each is a success then, to every layer.
    #[inline]
    pub(crate) fn accept_all_results(&self) -> bool {
        self.record_result.is_none() && self.retry_result.is_none() && self.classify.is_none()
    }

    /// Whether retry wants another attempt after this result.
    pub(crate) fn retries_result(&self, value: &T) -> bool {
        let named = self.retry_result.is_some_and(|rule| rule(value));
        !self.once && (named || self.verdict(value) == Outcome::Failure)
    }

    /// What retry has to know of an error.
    pub(crate) fn failure<'e>(&self, error: &'e CallError<E>) -> Failure<'e> {
        let (facts, business) = self.inspect(error);
        Failure {
            kinds: facts.kinds,
            refusal: facts.refusal,
            wanted: ask(self.retry_if, business),
            ignored: self.once || ask(self.retry_ignore, business) == Some(true),
            retry_after: ask(self.retry_after, business).flatten(),
        }
    }

    /// What the circuit breaker has to know of an outcome; its settings decide on errors only.
    pub(crate) fn report(
        &self,
        outcome: &Result<T, CallError<E>>,
        config: impl FnOnce() -> Arc<CircuitBreakerConfig>,
    ) -> Report {
        let error = match outcome {
            Ok(value) => {
                let failed = self.record_result.is_some_and(|rule| rule(value));
                return Report::new(if failed { Outcome::Failure } else { self.verdict(value) });
            }
            Err(error) => error,
        };
        let (facts, business) = self.inspect(error);
        let answers = Answers {
            recorded: ask(self.record, business),
            ignored: ask(self.ignore, business) == Some(true),
        };
        let outcome = config().classify(&facts, answers);
        Report {
            outcome,
            kinds: facts.kinds,
            open_for: ask(self.open_for, business).flatten(),
            unnamed: outcome == Outcome::Success
                && facts.kinds.is_empty()
                && answers.recorded.is_none(),
        }
    }
}

/// The answer of a rule about a business error, if there are both.
fn ask<E, A>(rule: Option<fn(&E) -> A>, business: Option<&E>) -> Option<A> {
    Some(rule?(business?))
}

impl<T, E> Default for Rules<T, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, E> Clone for Rules<T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E> Copy for Rules<T, E> {}

impl<T, E> fmt::Debug for Rules<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("record", &self.record.is_some())
            .field("ignore", &self.ignore.is_some())
            .field("record_result", &self.record_result.is_some())
            .field("open_for", &self.open_for.is_some())
            .field("retry_if", &self.retry_if.is_some())
            .field("retry_ignore", &self.retry_ignore.is_some())
            .field("retry_result", &self.retry_result.is_some())
            .field("retry_after", &self.retry_after.is_some())
            .field("classify", &self.classify.is_some())
            .field("once", &self.once)
            .field("facts", &self.facts.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{BulkheadFull, TimedOut};

    #[derive(Debug)]
    enum Failed {
        Io,
        Declined,
        Nested(Error),
    }

    impl ErrorKind for Failed {
        fn kinds(&self) -> &'static [&'static str] {
            match self {
                Failed::Io => &["io"],
                Failed::Declined => &["declined", "http_4xx"],
                Failed::Nested(error) => error.kinds(),
            }
        }

        fn refusal(&self) -> Option<Cow<'_, Error>> {
            match self {
                Failed::Nested(error) => Some(Cow::Borrowed(error)),
                _ => None,
            }
        }
    }

    #[test]
    fn facts_by_hand_are_those_of_the_trait() {
        let refusal = Error::from(BulkheadFull::new("b".into()));
        let by_hand: fn(&Failed) -> Facts<'_> = |error| match error {
            Failed::Nested(refusal) => {
                Facts::new(refusal.kinds()).with_refusal(Some(Cow::Borrowed(refusal)))
            }
            other => Facts::new(other.kinds()),
        };
        for error in [Failed::Io, Failed::Declined, Failed::Nested(refusal)] {
            let facts = by_hand(&error);
            assert_eq!(facts.kinds, error.kinds());
            assert_eq!(facts.refusal, error.refusal());
        }
    }

    fn outcome(
        rules: Rules<(), Failed>,
        config: &CircuitBreakerConfig,
        error: impl Into<CallError<Failed>>,
    ) -> Outcome {
        rules.report(&Err(error.into()), || Arc::new(config.clone())).outcome
    }

    impl From<Failed> for CallError<Failed> {
        fn from(error: Failed) -> Self {
            CallError::Inner(error)
        }
    }

    fn timeout() -> Error {
        TimedOut::new("t".into(), Duration::from_secs(1)).into()
    }

    fn full() -> Error {
        BulkheadFull::new("b".into()).into()
    }

    fn lists(record: &[&str], ignore: &[&str]) -> CircuitBreakerConfig {
        CircuitBreakerConfig::builder()
            .record_errors(record.iter().copied())
            .ignore_errors(ignore.iter().copied())
            .build()
            .unwrap()
    }

    #[test]
    fn without_rules_every_error_and_every_refusal_is_a_failure() {
        let config = lists(&[], &[]);
        assert_eq!(outcome(Rules::new(), &config, Failed::Io), Outcome::Failure);
        assert_eq!(outcome(Rules::new(), &config, full()), Outcome::Failure);
    }

    #[test]
    fn a_timeout_cannot_be_ignored_nor_left_off_a_record_list() {
        let config = lists(&["io"], &["timeout"]);
        assert_eq!(outcome(Rules::new(), &config, timeout()), Outcome::Failure);
        let nested = Failed::Nested(timeout());
        assert_eq!(outcome(Rules::new().kinds(), &config, nested), Outcome::Failure);
    }

    #[test]
    fn refusals_are_ignored_where_the_list_says_so() {
        let config = lists(&[], &["bulkhead_full"]);
        assert_eq!(outcome(Rules::new(), &config, full()), Outcome::Ignored);
    }

    #[test]
    fn what_is_not_on_a_record_list_is_a_success_and_ignored_wins() {
        let rules = Rules::new().kinds();
        let config = lists(&["io", "http_4xx"], &["io"]);
        assert_eq!(outcome(rules, &config, Failed::Io), Outcome::Ignored);
        assert_eq!(outcome(rules, &config, Failed::Declined), Outcome::Failure);
        assert_eq!(outcome(rules, &lists(&["io"], &[]), Failed::Declined), Outcome::Success);
    }

    #[test]
    fn list_or_predicate_records() {
        let rules = Rules::new().kinds().record(|error| matches!(error, Failed::Declined));
        assert_eq!(outcome(rules, &lists(&[], &[]), Failed::Io), Outcome::Success);
        assert_eq!(outcome(rules, &lists(&["io"], &[]), Failed::Io), Outcome::Failure);
        assert_eq!(outcome(rules, &lists(&[], &[]), Failed::Declined), Outcome::Failure);
    }

    #[test]
    fn predicates_never_see_a_refusal_even_when_it_travels_inside_the_error() {
        let rules = Rules::new().kinds().ignore(|_| true).record(|_| false).retry_if(|_| false);
        let nested = CallError::Inner(Failed::Nested(full()));
        assert_eq!(rules.failure(&nested).wanted, None);
        assert_eq!(outcome(rules, &lists(&[], &[]), nested), Outcome::Failure);
    }

    #[test]
    fn a_result_counts_the_way_it_is_classified_unless_another_rule_names_it() {
        let rules = Rules::<u16, ()>::new().classify(|status| match status {
            500.. => Outcome::Failure,
            404 => Outcome::Ignored,
            _ => Outcome::Success,
        });
        let counts = |rules: Rules<u16, ()>, status| {
            rules.report(&Ok(status), || Arc::new(lists(&[], &[]))).outcome
        };
        for (status, outcome, again) in [
            (200, Outcome::Success, false),
            (404, Outcome::Ignored, false),
            (503, Outcome::Failure, true),
        ] {
            assert_eq!(counts(rules, status), outcome);
            assert_eq!(rules.retries_result(&status), again);
        }
        assert_eq!(counts(rules.record_result(|status| *status == 404), 404), Outcome::Failure);
        assert!(rules.retry_result(|status| *status == 404).retries_result(&404));
    }

    #[test]
    fn what_is_called_once_is_not_retried_on_any_outcome() {
        let rules = Rules::<u16, ()>::new().classify(|_| Outcome::Failure).once();
        assert!(!rules.retries_result(&503));
        assert!(rules.failure(&CallError::Inner(())).ignored);
        assert!(rules.failure(&timeout().into()).ignored);
    }

    #[test]
    fn open_for_is_asked_also_for_an_ignored_error() {
        let rules =
            Rules::<(), Failed>::new().ignore(|_| true).open_for(|_| Some(Duration::from_secs(7)));
        let report = rules.report(&Err(CallError::Inner(Failed::Io)), || Arc::new(lists(&[], &[])));
        assert_eq!(report.outcome, Outcome::Ignored);
        assert_eq!(report.open_for, Some(Duration::from_secs(7)));
    }
}
