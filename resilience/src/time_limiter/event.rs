use std::fmt;

use crate::{
    events::{EventKind, InstanceEvent},
    sealed::SealedEvent,
};

/// Something that happened at a [`TimeLimiter`](super::TimeLimiter).
pub type TimeLimiterEvent = InstanceEvent<TimeLimiterEventKind>;

/// What happened at a [`TimeLimiter`](super::TimeLimiter).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeLimiterEventKind {
    /// A call succeeded in time: `SUCCESS`.
    Success,
    /// A call was cut short: `TIMEOUT`.
    Timeout,
    /// A call failed in time: `ERROR`.
    Error,
}

impl SealedEvent for TimeLimiterEventKind {}

impl EventKind for TimeLimiterEventKind {
    const PATTERN: &'static str = "TimeLimiter";

    fn type_name(&self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::Timeout => "TIMEOUT",
            Self::Error => "ERROR",
        }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Success => "saw a call succeed",
            Self::Timeout => "cut a call short",
            Self::Error => "saw a call fail in time",
        })
    }
}
