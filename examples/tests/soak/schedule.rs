//! Which trouble comes when: all of it follows from one number.

use std::{fmt, time::Duration};

use fastrand::Rng;

/// What troubles come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    FirstOrder,
    SecondOrder,
    Payment,
    Inventory,
    Account,
    Mail,
    FirstProvider,
    SecondProvider,
    Redis,
}

/// What happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Trouble {
    /// Its answers come that much later.
    Delay { ms: u64 },
    /// It holds every answer back for longer than anybody waits.
    Hang,
    /// That share of requests fails, in percent.
    Errors { percent: u8 },
    /// That share of requests is carried out and the answer breaks off, in percent.
    Drops { percent: u8 },
    /// Its port is closed, and so is every connection.
    Refuse,
    /// SIGKILL, and a new process later.
    Kill,
    /// SIGTERM, and a new process later.
    Restart,
    /// SIGSTOP, and SIGCONT later: connections stay, and nobody answers.
    StandStill,
}

/// One trouble from its beginning to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) target: Target,
    pub(crate) trouble: Trouble,
    pub(crate) at: Duration,
    pub(crate) lasts: Duration,
}

impl Target {
    pub(crate) const ALL: [Self; 9] = [
        Self::FirstOrder,
        Self::SecondOrder,
        Self::Payment,
        Self::Inventory,
        Self::Account,
        Self::Mail,
        Self::FirstProvider,
        Self::SecondProvider,
        Self::Redis,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::FirstOrder => "order-1",
            Self::SecondOrder => "order-2",
            Self::Payment => "payment",
            Self::Inventory => "inventory",
            Self::Account => "account",
            Self::Mail => "mail",
            Self::FirstProvider => "pg-1",
            Self::SecondProvider => "pg-2",
            Self::Redis => "redis",
        }
    }

    /// A trouble that can come to it. The providers are never ended: they keep their ledgers in
    /// memory, and those are what everything is held to. Nor is one of the order processes, so that
    /// what it might lose a little of with each order adds up.
    fn trouble(self, rng: &mut Rng) -> Trouble {
        let delay = Trouble::Delay { ms: rng.u64(100..=3_000) };
        let errors = Trouble::Errors { percent: rng.u8(30..=100) };
        let drops = Trouble::Drops { percent: rng.u8(30..=100) };
        let (hang, refuse) = (Trouble::Hang, Trouble::Refuse);
        let ends = [Trouble::Kill, Trouble::Restart, Trouble::StandStill];
        let [kill, restart, stand_still] = ends;
        let troubles: &[_] = match self {
            Self::FirstOrder | Self::Payment => &ends,
            Self::SecondOrder => &[stand_still],
            Self::Inventory => &[delay, errors, drops, hang, kill, restart, stand_still],
            Self::Account => &[delay, errors, drops, kill, restart, stand_still],
            // Nor is the one that remembers which mails it has sent.
            Self::Mail => &[delay, errors, drops, hang, stand_still],
            Self::FirstProvider | Self::SecondProvider => {
                &[delay, errors, drops, hang, refuse, stand_still]
            }
            Self::Redis => &[kill, stand_still],
        };
        troubles[rng.usize(..troubles.len())]
    }
}

/// The troubles of a run, in the order of their beginnings. Those of one target come one after the
/// other; those of several overlap.
pub(crate) fn schedule(seed: u64, length: Duration) -> Vec<Step> {
    let mut rng = Rng::with_seed(seed);
    let mut steps = Vec::new();
    for target in Target::ALL {
        // A stream of its own: where one target's troubles end does not move the others'.
        let mut rng = rng.fork();
        let mut at = millis(&mut rng, 2_000, 12_000);
        loop {
            let lasts = millis(&mut rng, 1_000, 4_000);
            if at + lasts > length {
                break;
            }
            steps.push(Step { target, trouble: target.trouble(&mut rng), at, lasts });
            at += lasts + millis(&mut rng, 4_000, 12_000);
        }
    }
    steps.sort_by_key(|step| step.at);
    steps
}

fn millis(rng: &mut Rng, from: u64, to: u64) -> Duration {
    Duration::from_millis(rng.u64(from..=to))
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.target.name();
        match self.trouble {
            Trouble::Delay { ms } => write!(f, "{name} answers {ms} ms later"),
            Trouble::Hang => write!(f, "{name} does not answer"),
            Trouble::Errors { percent } => write!(f, "{name} fails {percent} % of requests"),
            Trouble::Drops { percent } => write!(f, "{name} breaks {percent} % of answers off"),
            Trouble::Refuse => write!(f, "{name} refuses connections"),
            Trouble::Kill => write!(f, "{name} is killed"),
            Trouble::Restart => write!(f, "{name} is told to end"),
            Trouble::StandStill => write!(f, "{name} stands still"),
        }?;
        write!(f, " for {:.1} s", self.lasts.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, mem::discriminant};

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn the_same_seed_brings_the_same_troubles_and_another_one_others() {
        assert_eq!(schedule(7, MINUTE), schedule(7, MINUTE));
        assert_ne!(schedule(7, MINUTE), schedule(8, MINUTE));
    }

    #[test]
    fn troubles_of_one_target_do_not_overlap_and_all_end_in_time() {
        for seed in 0..100 {
            let steps = schedule(seed, MINUTE);
            assert!(steps.is_sorted_by_key(|step| step.at));
            for target in Target::ALL {
                let mut end = Duration::ZERO;
                for step in steps.iter().filter(|step| step.target == target) {
                    assert!(step.at > end, "seed {seed}: {step} begins before {end:?}");
                    end = step.at + step.lasts;
                }
                assert!(end > Duration::ZERO && end <= MINUTE, "seed {seed}: {}", target.name());
            }
        }
    }

    #[test]
    fn every_kind_of_trouble_comes_to_whom_it_can_come() {
        let kinds: HashSet<_> = schedule(1, 100 * MINUTE)
            .iter()
            .map(|step| (step.target, discriminant(&step.trouble)))
            .collect();
        assert_eq!(kinds.len(), 2 * 3 + 1 + 7 + 6 + 5 + 2 * 6 + 2);
    }
}
