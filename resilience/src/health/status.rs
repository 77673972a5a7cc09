use std::fmt;

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// It works.
    Up,
    /// It does not work, and the process should get no work for it.
    Down,
    /// Nobody can tell.
    Unknown,
    /// A circuit breaker is open, which the process copes with.
    CircuitOpen,
    /// A circuit breaker tries whether what it protects works again.
    CircuitHalfOpen,
    /// A rate limiter has no turn for a call in the time that it may wait.
    RateLimited,
}

impl Status {
    /// Returns Spring Boot's and Resilience4j's name of the status, such as `CIRCUIT_OPEN`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Up => "UP",
            Self::Down => "DOWN",
            Self::Unknown => "UNKNOWN",
            Self::CircuitOpen => "CIRCUIT_OPEN",
            Self::CircuitHalfOpen => "CIRCUIT_HALF_OPEN",
            Self::RateLimited => "RATE_LIMITED",
        }
    }

    /// What several come to: the worst of those that say something of the whole.
    pub(super) fn of_all(all: impl IntoIterator<Item = Self>) -> Self {
        let rank = |status: &Self| match status {
            Self::Down => 0,
            Self::Up => 1,
            _ => 2,
        };
        let worst = all.into_iter().min_by_key(rank).unwrap_or(Self::Unknown);
        if let Self::Down | Self::Up = worst { worst } else { Self::Unknown }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Status::{self, *};

    #[test]
    fn several_are_down_if_one_is_else_up_if_one_is() {
        let cases: &[(&[Status], Status)] = &[
            (&[], Unknown),
            (&[Up], Up),
            (&[Up, Unknown], Up),
            (&[Unknown, CircuitOpen, Up], Up),
            (&[Up, RateLimited, Down, CircuitHalfOpen], Down),
            (&[CircuitOpen], Unknown),
            (&[RateLimited, CircuitHalfOpen], Unknown),
        ];
        for &(all, whole) in cases {
            assert_eq!(Status::of_all(all.iter().copied()), whole, "{all:?}");
        }
    }
}
