//! What a count means beside its record.

use crate::count::Count;

/// Who compiled what is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compiler {
    OfTheRecords,
    Another,
}

impl Compiler {
    /// How much more than recorded is allowed: with the same compiler, what a change elsewhere moves
    /// by other choices of what to inline; with another one, what its optimiser moves as well.
    pub(crate) fn percent(self) -> u64 {
        match self {
            Self::OfTheRecords => 5,
            Self::Another => 15,
        }
    }
}

/// Allowed beside the percentage, which is less than an instruction or two on the shortest paths.
const ALLOWED: u64 = 10;
/// Far below its record, in percent of it: a call could grow back unnoticed.
const FAR_BELOW: u64 = 80;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Within,
    /// The count, its record, and the most that is allowed.
    Above(&'static str, u64, u64, u64),
    /// The count and its record.
    FarBelow(&'static str, u64, u64),
    NoRecord,
}

impl Verdict {
    pub(crate) fn of(count: Count, recorded: Option<Count>, compiler: Compiler) -> Self {
        let Some(recorded) = recorded else { return Self::NoRecord };
        let (now, then) = (count.instructions, recorded.instructions);
        let most = then + ALLOWED.max(then * compiler.percent() / 100);
        // No compiler adds or takes away a call of these.
        let exact = [
            ("clock reads", count.clock_reads, recorded.clock_reads),
            ("allocations", count.allocations, recorded.allocations),
        ];
        if let Some((what, now, then)) = exact.into_iter().find(|(_, now, then)| now > then) {
            Self::Above(what, now, then, then)
        } else if now > most {
            Self::Above("instructions", now, then, most)
        } else if let Some((what, now, then)) = exact.into_iter().find(|(_, now, then)| now < then)
        {
            Self::FarBelow(what, now, then)
        } else if now * 100 < then * FAR_BELOW {
            Self::FarBelow("instructions", now, then)
        } else {
            Self::Within
        }
    }

    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Above(..) | Self::NoRecord)
    }

    /// What to tell about a path.
    pub(crate) fn remark(&self, path: &str) -> Option<String> {
        match self {
            Self::Within => None,
            Self::Above(what, now, then, most) => Some(format!(
                "error: {path} takes {now} {what} a call; recorded are {then}, allowed {most}"
            )),
            Self::FarBelow(what, now, then) => Some(format!(
                "note: {path} takes {now} {what} a call where {then} are recorded: lower the record, \
                 or it may grow back unnoticed"
            )),
            Self::NoRecord => Some(format!("error: {path} has no record")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(instructions: u64) -> Count {
        Count { instructions, clock_reads: 2, allocations: 0 }
    }

    fn verdict(now: u64, then: u64) -> Verdict {
        Verdict::of(count(now), Some(count(then)), Compiler::OfTheRecords)
    }

    #[test]
    fn five_percent_more_are_allowed_and_ten_instructions_at_least() {
        assert_eq!(verdict(1050, 1000), Verdict::Within);
        assert_eq!(verdict(1051, 1000), Verdict::Above("instructions", 1051, 1000, 1050));
        assert_eq!(verdict(60, 50), Verdict::Within);
        assert!(verdict(61, 50).is_failure());
    }

    #[test]
    fn another_compiler_may_take_fifteen_percent_more() {
        let verdict = |now| Verdict::of(count(now), Some(count(1000)), Compiler::Another);
        assert_eq!(verdict(1150), Verdict::Within);
        assert!(verdict(1151).is_failure());
    }

    #[test]
    fn one_more_clock_read_or_allocation_is_a_failure_whatever_the_instructions() {
        let reads = Count { clock_reads: 3, ..count(10) };
        let allocates = Count { allocations: 1, ..count(10) };
        for dearer in [reads, allocates] {
            for compiler in [Compiler::OfTheRecords, Compiler::Another] {
                assert!(Verdict::of(dearer, Some(count(1000)), compiler).is_failure());
            }
        }
    }

    #[test]
    fn far_below_is_told_and_no_failure() {
        assert_eq!(verdict(800, 1000), Verdict::Within);
        let far_below = verdict(799, 1000);
        assert!(!far_below.is_failure());
        assert!(far_below.remark("retry").unwrap().contains("lower the record"));
        let fewer_reads = Count { clock_reads: 1, ..count(1000) };
        let verdict = Verdict::of(fewer_reads, Some(count(1000)), Compiler::OfTheRecords);
        assert_eq!(verdict, Verdict::FarBelow("clock reads", 1, 2));
    }

    #[test]
    fn a_path_without_a_record_is_a_failure() {
        assert!(Verdict::of(count(1), None, Compiler::OfTheRecords).is_failure());
    }
}
