use std::time::Duration;

/// How a call counts: what [`Rules::classify`](crate::Rules::classify) says of a result.
///
/// | outcome | circuit breaker | retry |
/// |---|---|---|
/// | `Success` | a success | ends the call |
/// | `Failure` | a failure | calls again |
/// | `Ignored` | neither; a probe gives its place back | ends the call |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
    /// It is to be taken for neither.
    Ignored,
}

/// What the rules of a call site say of an error; nothing unless there are rules.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Answers {
    /// Whether it is a failure, if there is a rule for that.
    pub(crate) recorded: Option<bool>,
    /// Whether it is neither failure nor success.
    pub(crate) ignored: bool,
}

/// How a call that was let in ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    pub(crate) outcome: Outcome,
    /// The kinds of the error, its own first; none for a success.
    pub(crate) kinds: &'static [&'static str],
    /// For how long the callee asked to be left alone; zero is not at all.
    pub(crate) open_for: Option<Duration>,
    /// An error without kinds, which no `record_errors` can name, counts as a success: told once.
    pub(crate) unnamed: bool,
}

impl Report {
    pub(crate) fn new(outcome: Outcome) -> Self {
        Self { outcome, kinds: &[], open_for: None, unnamed: false }
    }

    /// The call panicked.
    pub(crate) fn panic() -> Self {
        Self { kinds: &["panic"], ..Self::new(Outcome::Failure) }
    }
}
