use crate::error::{CallError, Error};

/// How a call ended, in the words of its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) name: &'static str,
    /// The layer that refused the call or cut it short.
    pub(super) refused_by: Option<&'static str>,
}

impl Outcome {
    const fn plain(name: &'static str) -> Self {
        Self { name, refused_by: None }
    }

    pub(super) fn of<E>(error: Option<&CallError<E>>) -> Self {
        match error {
            None => Self::plain("success"),
            Some(CallError::Inner(_)) => Self::plain("failure"),
            Some(CallError::Resilience(error)) => Self::of_error(error),
        }
    }

    /// That of a call which was dropped before its end.
    pub(super) fn of_dropped(in_body: bool) -> Self {
        Self::plain(if in_body { "panic" } else { "cancelled" })
    }

    fn of_error(error: &Error) -> Self {
        let (name, refused_by) = match error {
            Error::CallNotPermitted(_) => ("refused", "circuit_breaker"),
            Error::RequestNotPermitted(_) => ("refused", "rate_limiter"),
            Error::BulkheadFull(_) => ("refused", "bulkhead"),
            Error::TimedOut(over) if over.is_deadline() => ("timeout", "deadline"),
            Error::TimedOut(_) => ("timeout", "time_limiter"),
            // The callee answered, though not well.
            Error::MaxRetriesExceeded(_) => return Self::plain("failure"),
        };
        Self { name, refused_by: Some(refused_by) }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;
    use crate::error::{MaxRetriesExceeded, TimedOut};

    #[test]
    fn a_timeout_tells_whose_time_was_over_and_results_that_ran_out_are_failures() {
        let name = || Arc::<str>::from("x").into();
        let of = |error: Error| {
            let Outcome { name, refused_by } = Outcome::of(Some(&CallError::<()>::from(error)));
            (name, refused_by)
        };
        let limit = TimedOut::new(name(), Duration::ZERO);
        assert_eq!(of(limit.into()), ("timeout", Some("time_limiter")));
        let deadline = TimedOut::of_deadline(name(), Duration::ZERO);
        assert_eq!(of(deadline.into()), ("timeout", Some("deadline")));
        assert_eq!(of(MaxRetriesExceeded::new(name(), 3).into()), ("failure", None));
    }
}
