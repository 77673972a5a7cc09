use std::{fmt, sync::Arc};

use crate::events::Event;

/// Something that happened at a rate limiter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimiterEvent {
    instance: Arc<str>,
    created_at: u64,
    kind: RateLimiterEventKind,
}

/// What happened at a rate limiter.
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

impl RateLimiterEvent {
    pub(super) fn new(instance: Arc<str>, created_at: u64, kind: RateLimiterEventKind) -> Self {
        Self { instance, created_at, kind }
    }

    /// What happened.
    pub fn kind(&self) -> RateLimiterEventKind {
        self.kind
    }
}

impl Event for RateLimiterEvent {
    fn type_name(&self) -> &'static str {
        match self.kind {
            RateLimiterEventKind::SuccessfulAcquire { .. } => "SUCCESSFUL_ACQUIRE",
            RateLimiterEventKind::FailedAcquire { .. } => "FAILED_ACQUIRE",
            RateLimiterEventKind::Drained { .. } => "DRAINED",
        }
    }

    fn created_at_nanos(&self) -> u64 {
        self.created_at
    }

    fn instance(&self) -> &str {
        &self.instance
    }
}

impl fmt::Display for RateLimiterEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.instance;
        match self.kind {
            RateLimiterEventKind::SuccessfulAcquire { permits } => {
                write!(f, "RateLimiter '{name}' permitted {permits}")
            }
            RateLimiterEventKind::FailedAcquire { permits } => {
                write!(f, "RateLimiter '{name}' refused {permits}")
            }
            RateLimiterEventKind::Drained { available } => {
                write!(f, "RateLimiter '{name}' was drained of {}", available.max(0))
            }
        }
    }
}
