use std::{fmt, time::Duration};

use super::StoreFailure;
use crate::{
    events::{EventKind, InstanceEvent},
    sealed::SealedEvent,
};

/// Something that happened at a [`Store`](super::Store), which goes by its namespace.
pub type StoreEvent = InstanceEvent<StoreEventKind>;

/// What happened at a [`Store`](super::Store).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreEventKind {
    /// Decisions are made without the store from now on, by each limit's own setting: `DEGRADED`, once
    /// for each time that it is away.
    Degraded {
        /// Why the first decision failed.
        failure: StoreFailure,
    },
    /// The store decides again: `RECOVERED`.
    Recovered {
        /// For how long it did not.
        after: Duration,
    },
}

impl SealedEvent for StoreEventKind {}

impl EventKind for StoreEventKind {
    const PATTERN: &'static str = "Store";

    fn type_name(&self) -> &'static str {
        match self {
            Self::Degraded { .. } => "DEGRADED",
            Self::Recovered { .. } => "RECOVERED",
        }
    }

    fn comes_with_calls(&self) -> bool {
        false
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Degraded { failure } => write!(f, "decides no more: {failure}"),
            Self::Recovered { after } => write!(f, "decides again after {after:?}"),
        }
    }
}
