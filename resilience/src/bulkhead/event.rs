use std::{fmt, sync::Arc};

use crate::events::Event;

/// Something that happened at a bulkhead, semaphore or thread pool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BulkheadEvent {
    instance: Arc<str>,
    created_at: u64,
    kind: BulkheadEventKind,
}

/// What happened at a bulkhead.
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

impl BulkheadEvent {
    pub(crate) fn new(instance: Arc<str>, created_at: u64, kind: BulkheadEventKind) -> Self {
        Self { instance, created_at, kind }
    }

    /// What happened.
    pub fn kind(&self) -> BulkheadEventKind {
        self.kind
    }
}

impl Event for BulkheadEvent {
    fn type_name(&self) -> &'static str {
        match self.kind {
            BulkheadEventKind::CallPermitted => "CALL_PERMITTED",
            BulkheadEventKind::CallRejected => "CALL_REJECTED",
            BulkheadEventKind::CallFinished => "CALL_FINISHED",
        }
    }

    fn created_at_nanos(&self) -> u64 {
        self.created_at
    }

    fn instance(&self) -> &str {
        &self.instance
    }
}

impl fmt::Display for BulkheadEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            BulkheadEventKind::CallPermitted => "permitted a call",
            BulkheadEventKind::CallRejected => "rejected a call",
            BulkheadEventKind::CallFinished => "finished a call",
        };
        write!(f, "Bulkhead '{}' {what}", self.instance)
    }
}
