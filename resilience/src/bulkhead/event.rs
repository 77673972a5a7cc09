use std::fmt;

use crate::{
    events::{EventKind, InstanceEvent},
    sealed::SealedEvent,
};

/// Something that happened at a [`Bulkhead`](super::Bulkhead) or a
/// [`ThreadPoolBulkhead`](crate::ThreadPoolBulkhead).
pub type BulkheadEvent = InstanceEvent<BulkheadEventKind>;

/// What happened at a [`Bulkhead`](super::Bulkhead) or a
/// [`ThreadPoolBulkhead`](crate::ThreadPoolBulkhead).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BulkheadEventKind {
    /// A call got its slot, or its thread: `CALL_PERMITTED`.
    CallPermitted,
    /// A call was refused: `CALL_REJECTED`.
    CallRejected,
    /// A call that was permitted has ended, however it did: `CALL_FINISHED`.
    CallFinished,
}

impl SealedEvent for BulkheadEventKind {}

impl EventKind for BulkheadEventKind {
    const PATTERN: &'static str = "Bulkhead";

    fn type_name(&self) -> &'static str {
        match self {
            Self::CallPermitted => "CALL_PERMITTED",
            Self::CallRejected => "CALL_REJECTED",
            Self::CallFinished => "CALL_FINISHED",
        }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CallPermitted => "permitted a call",
            Self::CallRejected => "rejected a call",
            Self::CallFinished => "finished a call",
        })
    }
}
