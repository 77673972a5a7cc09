use super::config::FailureStreaks;

/// Outcomes in a row since the state was entered.
#[derive(Debug, Clone)]
pub(super) struct Streaks {
    successes: u64,
    /// Failures in a row for each kind that has a limit of its own, then those of all others.
    failures: Box<[u32]>,
}

impl Streaks {
    pub(super) fn new(limits: &FailureStreaks) -> Self {
        Self { successes: 0, failures: vec![0; limits.of_kinds.len() + 1].into_boxed_slice() }
    }

    /// Follows other limits; rows of failures begin anew, a row of successes goes on.
    pub(super) fn adopt(&mut self, limits: &FailureStreaks) {
        *self = Self { successes: self.successes, ..Self::new(limits) };
    }

    pub(super) fn clear(&mut self) {
        self.successes = 0;
        self.failures.fill(0);
    }

    pub(super) fn successes(&self) -> u64 {
        self.successes
    }

    pub(super) fn succeed(&mut self) {
        self.failures.fill(0);
        self.successes = self.successes.saturating_add(1);
    }

    /// Ends a row of successes without being a failure.
    pub(super) fn interrupt(&mut self) {
        self.failures.fill(0);
        self.successes = 0;
    }

    /// Counts a failure of these kinds; `true` when a row has reached its limit.
    ///
    /// A failure of one kind leaves the rows of other kinds alone: only a success ends those.
    pub(super) fn fail(&mut self, kinds: &[&str], limits: &FailureStreaks) -> bool {
        self.successes = 0;
        let mut listed = false;
        let mut reached = false;
        for ((kind, limit), count) in limits.of_kinds.iter().zip(&mut self.failures) {
            if kinds.contains(&kind.as_ref()) {
                listed = true;
                *count = count.saturating_add(1);
                reached |= *count >= *limit;
            }
        }
        if !listed && let Some(count) = self.failures.last_mut() {
            *count = count.saturating_add(1);
            reached |= *count >= limits.others;
        }
        reached
    }
}
