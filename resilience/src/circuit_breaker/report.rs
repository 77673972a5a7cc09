use std::time::Duration;

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

    /// The call panicked.
    pub(crate) fn panic() -> Self {
        Self { kinds: &["panic"], ..Self::new(Outcome::Failure) }
    }
}
