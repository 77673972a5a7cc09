use std::time::Duration;

use crate::store::{Part, Reply, Undecided};

/// What a store says to a request for permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// They are taken, and a rest with them, which is good for some nanoseconds.
    Taken { rest: u32, left: i64, good_for: u64 },
    /// They are not there; `None` when no wait is long enough.
    Refused { wait: Option<Duration>, left: i64 },
    /// The store does not say; for how long it is not asked, if that is known.
    Undecided { rests_for: Option<Duration> },
}

impl Verdict {
    pub(super) fn of(answer: Result<Reply, Undecided>, permits: u32) -> Self {
        match answer {
            Ok(reply) => Self::read(&reply, permits).unwrap_or(Self::Undecided { rests_for: None }),
            Err(Undecided { rests_for }) => Self::Undecided { rests_for },
        }
    }

    fn read(reply: &[Part], permits: u32) -> Option<Self> {
        let &[Part::Number(taken), Part::Number(wait), Part::Number(left), Part::Number(good_for)] =
            reply
        else {
            return None;
        };
        if taken == 0 && permits > 0 {
            let wait = u64::try_from(wait).ok().map(Duration::from_micros);
            return Some(Self::Refused { wait, left });
        }
        let rest = u32::try_from(taken).ok()?.checked_sub(permits)?;
        let good_for = u64::try_from(good_for).ok()?.saturating_mul(1_000);
        Some(Self::Taken { rest, left, good_for })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(numbers: &[i64], permits: u32) -> Verdict {
        Verdict::of(Ok(numbers.iter().copied().map(Part::Number).collect()), permits)
    }

    #[test]
    fn numbers_have_a_meaning() {
        let taken = Verdict::Taken { rest: 18, left: 30, good_for: 5_000 };
        assert_eq!(verdict(&[20, 0, 30, 5], 2), taken);
        let wait = Some(Duration::from_micros(7));
        assert_eq!(verdict(&[0, 7, 1, 0], 2), Verdict::Refused { wait, left: 1 });
        assert_eq!(verdict(&[0, -1, 1, 0], 2), Verdict::Refused { wait: None, left: 1 });
    }

    #[test]
    fn what_no_script_of_ours_says_is_no_decision() {
        let nothing = Verdict::Undecided { rests_for: None };
        for numbers in [&[][..], &[1], &[1, 0, 0], &[1, 0, 0, 1, 1], &[1, 0, 0, 1], &[2, 0, 0, -1]]
        {
            assert_eq!(verdict(numbers, 2), nothing, "{numbers:?}");
        }
        assert_eq!(Verdict::of(Ok(vec![Part::Nothing; 4]), 2), nothing);
    }
}
