use std::fmt;

use crate::{
    events::{EventKind, InstanceEvent},
    sealed::SealedEvent,
};

/// Something that happened at a [`RateLimiter`](super::RateLimiter).
pub type RateLimiterEvent = InstanceEvent<RateLimiterEventKind>;

/// What happened at a [`RateLimiter`](super::RateLimiter).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RateLimiterEventKind {
    /// Permissions were taken, after a wait where there was one: `SUCCESSFUL_ACQUIRE`.
    SuccessfulAcquire {
        /// How many.
        permits: u32,
    },
    /// Permissions were refused: `FAILED_ACQUIRE`.
    FailedAcquire {
        /// How many were asked for.
        permits: u32,
    },
    /// The permissions that were left were taken away: `DRAINED`.
    Drained {
        /// How many were available before. Below zero, when later periods are reserved, nothing was
        /// taken.
        available: i64,
    },
}

impl SealedEvent for RateLimiterEventKind {}

impl EventKind for RateLimiterEventKind {
    const PATTERN: &'static str = "RateLimiter";

    fn type_name(&self) -> &'static str {
        match self {
            Self::SuccessfulAcquire { .. } => "SUCCESSFUL_ACQUIRE",
            Self::FailedAcquire { .. } => "FAILED_ACQUIRE",
            Self::Drained { .. } => "DRAINED",
        }
    }

    fn comes_with_calls(&self) -> bool {
        !matches!(self, Self::Drained { .. })
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SuccessfulAcquire { permits } => write!(f, "permitted {permits}"),
            Self::FailedAcquire { permits } => write!(f, "refused {permits}"),
            Self::Drained { available } => write!(f, "was drained of {}", available.max(&0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_but_draining_comes_with_calls() {
        assert!(RateLimiterEventKind::SuccessfulAcquire { permits: 1 }.comes_with_calls());
        assert!(RateLimiterEventKind::FailedAcquire { permits: 1 }.comes_with_calls());
        assert!(!RateLimiterEventKind::Drained { available: 1 }.comes_with_calls());
    }
}
