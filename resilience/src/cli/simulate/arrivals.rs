use fastrand::Rng;

use super::scenario::Scenario;

const SECOND: f64 = 1e9;

/// The times at which calls come.
pub(super) struct Arrivals<'a> {
    scenario: &'a Scenario,
    rng: Rng,
    now: u64,
}

impl<'a> Arrivals<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        // Another sequence than the backend's, which starts from the same seed.
        let rng = Rng::with_seed(scenario.seed.wrapping_add(1));
        Self { scenario, rng, now: 0 }
    }

    /// The time of the next call in nanoseconds; `None` if there is none any more.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates"
    )]
    pub(super) fn next(&mut self) -> Option<u64> {
        // How much of a call is still to come: a phase may end in between.
        let mut part = 1.0 + self.scenario.jitter * (2.0 * self.rng.f64() - 1.0);
        for (start, end, rate) in self.scenario.rate.spans() {
            if end <= self.now {
                continue;
            }
            let from = self.now.max(start);
            if *rate <= 0.0 {
                self.now = end;
                continue;
            }
            let wait = (part / rate * SECOND).max(1.0);
            let due = from.saturating_add(wait as u64);
            if due < end {
                self.now = due;
                return Some(due);
            }
            #[expect(clippy::cast_precision_loss, reason = "an hour is exact")]
            let passed = (end - from) as f64 / SECOND;
            part -= rate * passed;
            self.now = end;
        }
        None
    }
}
