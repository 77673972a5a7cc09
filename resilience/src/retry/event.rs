use std::{fmt, time::Duration};

use crate::{
    events::{EventKind, InstanceEvent, RecentEvent},
    sealed::SealedEvent,
};

/// Something that happened at a [`Retry`](super::Retry).
pub type RetryEvent = InstanceEvent<RetryEventKind>;

/// What happened at a [`Retry`](super::Retry).
///
/// `attempts` are those so far that asked for another one. `error` is the kind of the last error,
/// `None` where there were unwanted results only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryEventKind {
    /// Another attempt comes after a wait: `RETRY`.
    Retry {
        /// How many attempts asked for another one.
        attempts: u32,
        /// How long the wait is.
        wait: Duration,
        /// The kind of the last error.
        error: Option<&'static str>,
    },
    /// A call succeeded after at least one retry: `SUCCESS`.
    Success {
        /// How many attempts asked for another one.
        attempts: u32,
        /// The kind of the last error.
        error: Option<&'static str>,
    },
    /// A call failed for good although it was retried as often as attempts, time and budget allowed:
    /// `ERROR`.
    Error {
        /// How many attempts asked for another one.
        attempts: u32,
        /// The kind of the last error.
        error: Option<&'static str>,
    },
    /// An error ended the call because it is not retried: `IGNORED_ERROR`.
    IgnoredError {
        /// The kind of that error.
        error: Option<&'static str>,
    },
}

impl SealedEvent for RetryEventKind {
    fn add_details(&self, recent: &mut RecentEvent) {
        let (attempts, error) = match *self {
            Self::Retry { attempts, error, .. }
            | Self::Success { attempts, error }
            | Self::Error { attempts, error } => (attempts, error),
            Self::IgnoredError { error } => (0, error),
        };
        recent.attempts = Some(attempts);
        recent.error = error.map(str::to_owned);
    }
}

impl EventKind for RetryEventKind {
    const PATTERN: &'static str = "Retry";

    fn type_name(&self) -> &'static str {
        match self {
            Self::Retry { .. } => "RETRY",
            Self::Success { .. } => "SUCCESS",
            Self::Error { .. } => "ERROR",
            Self::IgnoredError { .. } => "IGNORED_ERROR",
        }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = |error: Option<&'static str>| error.unwrap_or("an unwanted result");
        match *self {
            Self::Retry { attempts, wait, error } => {
                let (next, last) = (attempts + 1, last(error));
                write!(f, "waits {wait:?} before attempt {next} after {last}")
            }
            Self::Success { attempts, error } => {
                write!(f, "succeeded after {attempts} failed attempts, last {}", last(error))
            }
            Self::Error { attempts, error } => {
                write!(f, "gave up after {attempts} attempts, last {}", last(error))
            }
            Self::IgnoredError { error } => write!(f, "does not retry {}", last(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::events::Events;

    #[test]
    fn every_event_says_in_words_what_happened() {
        let (wait, error) = (Duration::from_millis(20), Some("io"));
        let texts = [
            (
                RetryEventKind::Retry { attempts: 2, wait, error },
                "RETRY",
                "waits 20ms before attempt 3 after io",
            ),
            (
                RetryEventKind::Retry { attempts: 1, wait, error: None },
                "RETRY",
                "waits 20ms before attempt 2 after an unwanted result",
            ),
            (
                RetryEventKind::Success { attempts: 2, error },
                "SUCCESS",
                "succeeded after 2 failed attempts, last io",
            ),
            (
                RetryEventKind::Error { attempts: 3, error },
                "ERROR",
                "gave up after 3 attempts, last io",
            ),
            (RetryEventKind::IgnoredError { error }, "IGNORED_ERROR", "does not retry io"),
        ];
        let name = Arc::from("r");
        for (kind, type_name, text) in texts {
            assert_eq!(kind.type_name(), type_name);
            let event = Events::new(1).event(&name, 0, kind);
            assert_eq!(event.to_string(), format!("Retry 'r' {text}"));
        }
    }

    #[test]
    fn a_kept_event_tells_the_attempts_and_the_last_error() {
        let error = Some("io");
        let (events, name) = (Events::new(4), Arc::from("r"));
        events.capture(true);
        for kind in [
            RetryEventKind::Retry { attempts: 1, wait: Duration::ZERO, error },
            RetryEventKind::Success { attempts: 2, error: None },
            RetryEventKind::Error { attempts: 3, error },
            RetryEventKind::IgnoredError { error },
        ] {
            events.push(events.event(&name, 0, kind));
        }
        let kept = events.recent().into_iter().map(|event| (event.attempts, event.error));
        let io = Some("io".to_owned());
        assert_eq!(
            kept.collect::<Vec<_>>(),
            [(Some(1), io.clone()), (Some(2), None), (Some(3), io.clone()), (Some(0), io)],
        );
    }
}
