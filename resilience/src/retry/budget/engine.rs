//! The decision whether one more retry is within the budget: pure arithmetic that is told the time.

use super::RetryBudgetConfig;

/// How many slices the window has; each is a whole second of the clock's line.
const SLICES: usize = 10;
const SECOND: u64 = 1_000_000_000;

/// What the ratio is counted in. Fractions as people write them have no exact value in binary, and
/// 29 % of 100 calls are 29 retries.
const BILLION: u128 = 1_000_000_000;

/// The calls and retries of the last ten seconds, the present one included.
#[derive(Debug)]
pub(super) struct Engine {
    limits: Limits,
    /// The latest second that was seen: a clock that goes back stands still.
    latest: u64,
    slices: [Slice; SLICES],
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Retries per call, in billionths.
    ratio: u128,
    /// Retries in the window beside those.
    floor: u64,
}

/// What happened in one second.
#[derive(Debug, Clone, Copy, Default)]
struct Slice {
    second: u64,
    calls: u64,
    retries: u64,
}

/// What the window holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) calls: u64,
    pub(super) retries: u64,
    /// How many more retries there may be.
    pub(super) available: u64,
}

impl Limits {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked: 0 to 10
    fn of(config: &RetryBudgetConfig) -> Self {
        Self {
            ratio: (config.ratio() * 1e9).round() as u128,
            floor: u64::from(config.min_per_second()) * SLICES as u64,
        }
    }

    /// How many retries there may be in all for so many calls.
    fn allowed(self, calls: u64) -> u64 {
        let share = self.ratio * u128::from(calls) / BILLION;
        u64::try_from(share).unwrap_or(u64::MAX).saturating_add(self.floor)
    }
}

impl Engine {
    pub(super) fn new(config: &RetryBudgetConfig) -> Self {
        Self { limits: Limits::of(config), latest: 0, slices: [Slice::default(); SLICES] }
    }

    /// Changes the limits; what was counted stays.
    pub(super) fn reconfigure(&mut self, config: &RetryBudgetConfig) {
        self.limits = Limits::of(config);
    }

    /// A call starts.
    pub(super) fn deposit(&mut self, now: u64) {
        self.present(now).calls += 1;
    }

    /// Takes one retry, if it is within the budget.
    pub(super) fn withdraw(&mut self, now: u64) -> bool {
        let granted = self.window(now).available > 0;
        self.present(now).retries += u64::from(granted);
        granted
    }

    /// What the window holds. Looking changes nothing.
    pub(super) fn window(&self, now: u64) -> Window {
        let second = self.second(now);
        let in_window = |slice: &&Slice| slice.second + SLICES as u64 > second;
        let mut window = Window::default();
        for slice in self.slices.iter().filter(in_window) {
            window.calls += slice.calls;
            window.retries += slice.retries;
        }
        window.available = self.limits.allowed(window.calls).saturating_sub(window.retries);
        window
    }

    fn second(&self, now: u64) -> u64 {
        self.latest.max(now / SECOND)
    }

    fn present(&mut self, now: u64) -> &mut Slice {
        self.latest = self.second(now);
        #[allow(clippy::cast_possible_truncation)] // below ten
        let slice = &mut self.slices[(self.latest % SLICES as u64) as usize];
        if slice.second != self.latest {
            *slice = Slice { second: self.latest, ..Slice::default() };
        }
        slice
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn engine(ratio: f64, min_per_second: u32) -> Engine {
        let config = RetryBudgetConfig::builder().ratio(ratio).min_per_second(min_per_second);
        Engine::new(&config.build().unwrap())
    }

    fn granted(engine: &mut Engine, now: u64) -> u64 {
        (0..1_000_000).take_while(|_| engine.withdraw(now)).count() as u64
    }

    #[test]
    fn retries_are_a_fraction_of_the_calls_and_exact() {
        for (ratio, calls, allowed) in
            [(0.2, 100, 20), (0.29, 100, 29), (0.7, 10, 7), (0.1, 9, 0), (10.0, 3, 30)]
        {
            let mut engine = engine(ratio, 0);
            (0..calls).for_each(|_| engine.deposit(SECOND));
            assert_eq!(granted(&mut engine, SECOND), allowed, "{ratio} of {calls}");
        }
    }

    #[test]
    fn the_floor_is_there_without_any_call_and_comes_on_top_of_the_fraction() {
        let mut engine = engine(0.5, 3);
        assert_eq!(granted(&mut engine, 0), 30);
        (0..4).for_each(|_| engine.deposit(0));
        assert_eq!(granted(&mut engine, 0), 2);
    }

    #[test]
    fn a_budget_of_nothing_grants_nothing() {
        let mut engine = engine(0.0, 0);
        (0..1_000).for_each(|_| engine.deposit(0));
        assert!(!engine.withdraw(0));
    }

    #[test]
    fn what_is_ten_seconds_old_counts_no_more() {
        let mut engine = engine(1.0, 0);
        engine.deposit(5 * SECOND);
        assert_eq!(engine.window(15 * SECOND - 1).available, 1);
        assert_eq!(engine.window(15 * SECOND), Window::default());
        assert!(engine.withdraw(14 * SECOND));
        assert!(!engine.withdraw(14 * SECOND));
        engine.deposit(15 * SECOND);
        assert_eq!(engine.window(15 * SECOND), Window { calls: 1, retries: 1, available: 0 });
    }

    #[test]
    fn a_clock_that_goes_back_stands_still() {
        let mut engine = engine(1.0, 0);
        engine.deposit(50 * SECOND);
        engine.deposit(3 * SECOND);
        assert_eq!(engine.window(0), Window { calls: 2, retries: 0, available: 2 });
        assert_eq!(granted(&mut engine, 40 * SECOND), 2);
        assert_eq!(engine.window(59 * SECOND).retries, 2);
    }

    #[test]
    fn other_limits_apply_to_what_was_counted() {
        let mut engine = engine(1.0, 0);
        (0..10).for_each(|_| engine.deposit(0));
        assert_eq!(granted(&mut engine, 0), 10);
        engine.reconfigure(
            &RetryBudgetConfig::builder().ratio(0.5).min_per_second(0).build().unwrap(),
        );
        assert_eq!(engine.window(0), Window { calls: 10, retries: 10, available: 0 });
    }

    #[derive(Debug, Clone, Copy)]
    enum Operation {
        Call,
        Retry,
    }

    proptest! {
        /// Against a list of everything that ever happened, counted anew at every step.
        #[test]
        fn the_window_equals_a_recount(
            millionths in 0_u32..=2_000_000,
            min_per_second in 0_u32..4,
            steps in prop::collection::vec((any::<bool>(), -2_000_i64..4_000), 1..300),
        ) {
            let mut engine = engine(f64::from(millionths) / 1e6, min_per_second);
            let mut happened: Vec<(u64, Operation)> = Vec::new();
            let (mut now, mut latest) = (1_000_000_i64, 0);
            for (is_call, milliseconds) in steps {
                now += milliseconds;
                let nanos = u64::try_from(now).unwrap() * 1_000_000;
                let second = nanos.max(latest) / SECOND;
                let count = |wanted: fn(&Operation) -> bool| {
                    let recent = happened.iter().filter(|(s, op)| s + 10 > second && wanted(op));
                    u128::try_from(recent.count()).unwrap()
                };
                let calls = count(|op| matches!(op, Operation::Call));
                let retries = count(|op| matches!(op, Operation::Retry));
                let fits = (retries + 1) * 1_000_000
                    <= u128::from(millionths) * calls + u128::from(min_per_second) * 10_000_000;
                latest = latest.max(nanos);
                if is_call {
                    engine.deposit(nanos);
                    happened.push((second, Operation::Call));
                } else {
                    prop_assert_eq!(engine.withdraw(nanos), fits);
                    if fits {
                        happened.push((second, Operation::Retry));
                    }
                }
            }
        }
    }
}
