use std::time::Duration;

/// How long a breaker that refuses stays open yet.
///
/// What `Option<Duration>` would say, but for one that is itself in an option: there it goes in two
/// registers, and says in words what its absence is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Left {
    Nanos(u64),
    /// Until somebody says otherwise.
    Unknown,
}

impl Left {
    pub(super) fn get(self) -> Option<Duration> {
        match self {
            Self::Nanos(nanos) => Some(Duration::from_nanos(nanos)),
            Self::Unknown => None,
        }
    }
}
