use std::{error::Error, fmt, time::Duration};

use crate::name::Name;

/// A [`SingleFlight`](super::SingleFlight) did not start a call.
///
/// The text does not have the key: it may be a user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightRefused {
    instance: Name,
    why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Another call with the key is under way; for how long it may be at most, if that is known.
    InProgress { longest: Option<Duration> },
    /// Whether there is one cannot be told, as the store is away.
    Unknown,
}

impl FlightRefused {
    pub(super) fn new(instance: Name, why: Why) -> Self {
        Self { instance, why }
    }

    /// The name of the instance.
    pub fn instance(&self) -> &str {
        self.instance.as_str()
    }

    /// Whether another call with the key is under way. If not, that could not be told: the store is away
    /// and `on_store_failure` is `closed`.
    pub fn is_in_progress(&self) -> bool {
        matches!(self.why, Why::InProgress { .. })
    }

    /// The time after which the key is free at the latest, where that is known: a call of another
    /// process that crashes is forgotten then.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.why {
            Why::InProgress { longest } => longest,
            Why::Unknown => None,
        }
    }
}

impl fmt::Display for FlightRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instance = &self.instance;
        match self.why {
            Why::InProgress { .. } => {
                write!(f, "SingleFlight '{instance}' has a call with this key in progress")
            }
            Why::Unknown => write!(
                f,
                "SingleFlight '{instance}' cannot tell whether a call with this key is in progress"
            ),
        }
    }
}

impl Error for FlightRefused {}
