use std::{fmt, sync::Arc, time::Duration};

use crate::events::Event;

/// What happened at a [`Retry`](super::Retry).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryEvent {
    /// The name of the instance.
    pub instance: Arc<str>,
    /// Nanoseconds since the Unix epoch.
    pub at: u64,
    /// Attempts so far that asked for another one; 0 for an ignored error.
    pub attempts: u32,
    /// The kind of the last error, if there was one.
    pub error: Option<&'static str>,
    /// What happened.
    pub kind: RetryEventKind,
}

/// The types of a [`RetryEvent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryEventKind {
    /// Another attempt comes after this wait.
    Retry {
        /// The wait before the attempt.
        wait: Duration,
    },
    /// A call succeeded after at least one retry.
    Success,
    /// A call failed for good although it was retried as often as allowed.
    Error,
    /// An error ended the call because it is not retried.
    IgnoredError,
}

impl Event for RetryEvent {
    fn type_name(&self) -> &'static str {
        match self.kind {
            RetryEventKind::Retry { .. } => "RETRY",
            RetryEventKind::Success => "SUCCESS",
            RetryEventKind::Error => "ERROR",
            RetryEventKind::IgnoredError => "IGNORED_ERROR",
        }
    }

    fn created_at_nanos(&self) -> u64 {
        self.at
    }

    fn instance(&self) -> &str {
        &self.instance
    }
}

impl fmt::Display for RetryEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, attempts) = (&self.instance, self.attempts);
        let last = self.error.unwrap_or("an unwanted result");
        match self.kind {
            RetryEventKind::Retry { wait } => {
                write!(
                    f,
                    "Retry '{name}' waits {wait:?} before attempt {} after {last}",
                    attempts + 1
                )
            }
            RetryEventKind::Success => {
                write!(f, "Retry '{name}' succeeded after {attempts} failed attempts, last {last}")
            }
            RetryEventKind::Error => {
                write!(f, "Retry '{name}' gave up after {attempts} attempts, last {last}")
            }
            RetryEventKind::IgnoredError => write!(f, "Retry '{name}' does not retry {last}"),
        }
    }
}
