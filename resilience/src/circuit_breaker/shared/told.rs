use std::time::Duration;

use super::super::State;
use crate::{
    clock::saturating_nanos,
    store::{Part, Reply},
};

/// What a store says of the state that processes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Told {
    pub(in super::super) state: State,
    /// The number of the stay in it; 0 is a CLOSED that nothing is known of.
    pub(in super::super) generation: u64,
    /// Nanoseconds until time alone ends the stay; 0 where it does not, or has.
    pub(in super::super) left: u64,
    /// How many probes are lent to this breaker with it.
    pub(in super::super) lent: u32,
    /// How many times in a row it has opened.
    pub(in super::super) openings: u32,
}

impl Told {
    /// Nothing of what no script of ours says.
    pub(super) fn read(reply: &Reply) -> Option<Self> {
        let numbers = reply.iter().map(|part| match part {
            Part::Number(number) => u64::try_from(*number).ok(),
            Part::Nothing | Part::Text(_) => None,
        });
        let [state, generation, left, probes, openings] =
            numbers.collect::<Option<Vec<_>>>()?.try_into().ok()?;
        Some(Self {
            state: match state {
                0 => State::Closed,
                1 => State::Open,
                2 => State::HalfOpen,
                _ => return None,
            },
            generation,
            left: saturating_nanos(Duration::from_micros(left)),
            lent: u32::try_from(probes).ok()?,
            openings: u32::try_from(openings).unwrap_or(u32::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(numbers: &[i64]) -> Option<Told> {
        Told::read(&numbers.iter().copied().map(Part::Number).collect())
    }

    #[test]
    fn numbers_have_a_meaning() {
        let told =
            Told { state: State::HalfOpen, generation: 7, left: 5_000, lent: 3, openings: 2 };
        assert_eq!(read(&[2, 7, 5, 3, 2]), Some(told));
    }

    #[test]
    fn what_no_script_of_ours_says_means_nothing() {
        for numbers in
            [&[][..], &[0; 4], &[0; 6], &[3, 0, 0, 0, 0], &[0, -1, 0, 0, 0], &[2, 1, 0, 1 << 40, 0]]
        {
            assert_eq!(read(numbers), None, "{numbers:?}");
        }
        assert_eq!(Told::read(&vec![Part::Nothing; 5]), None);
    }
}
