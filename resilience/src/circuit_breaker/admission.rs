use super::probes::Slot;

/// What a call that was let in has to bring back. It must reach `end` or `cancel` exactly once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admission {
    /// Nanoseconds on the breaker's clock.
    pub(crate) started: u64,
    /// The stay in a state that let the call in.
    pub(super) generation: u64,
    pub(super) grant: Grant,
}

/// What an admission was given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Grant {
    /// The breaker does not count: nothing is to be reported.
    Uncounted,
    /// The call is counted and holds nothing.
    Free,
    /// The call holds one of a half-open breaker's places.
    Probe(Slot),
}

impl Grant {
    pub(super) fn slot(self) -> Option<Slot> {
        match self {
            Grant::Probe(slot) => Some(slot),
            Grant::Free | Grant::Uncounted => None,
        }
    }
}
