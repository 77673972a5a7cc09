use std::{fmt, sync::Arc};

use crate::events::Event;

/// What happened at a [`TimeLimiter`](super::TimeLimiter).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeLimiterEvent {
    /// The name of the instance.
    pub instance: Arc<str>,
    /// Nanoseconds since the Unix epoch.
    pub at: u64,
    /// What happened.
    pub kind: TimeLimiterEventKind,
}

/// The types of a [`TimeLimiterEvent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeLimiterEventKind {
    /// The call succeeded in time.
    Success,
    /// The call was cut short.
    Timeout,
    /// The call failed in time.
    Error,
}

impl Event for TimeLimiterEvent {
    fn type_name(&self) -> &'static str {
        match self.kind {
            TimeLimiterEventKind::Success => "SUCCESS",
            TimeLimiterEventKind::Timeout => "TIMEOUT",
            TimeLimiterEventKind::Error => "ERROR",
        }
    }

    fn created_at_nanos(&self) -> u64 {
        self.at
    }

    fn instance(&self) -> &str {
        &self.instance
    }
}

impl fmt::Display for TimeLimiterEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.instance;
        match self.kind {
            TimeLimiterEventKind::Success => write!(f, "TimeLimiter '{name}' saw a call succeed"),
            TimeLimiterEventKind::Timeout => write!(f, "TimeLimiter '{name}' cut a call short"),
            TimeLimiterEventKind::Error => {
                write!(f, "TimeLimiter '{name}' saw a call fail in time")
            }
        }
    }
}
