use std::{fmt, sync::Arc};

use super::{RetryBudgetConfig, RetryBudgetMetrics, engine::Engine};
use crate::{clock::Clock, sync::Mutex};

/// A budget that retries are taken from, so that failures do not multiply the load.
///
/// Over the last ten seconds (the present one and the nine whole ones before it) there are at most
/// `ratio` retries for each call, and `min_per_second` retries a second on top. Every call that goes
/// through a [`Retry`](crate::Retry) of the budget counts when its first attempt starts; every
/// further attempt is taken from the budget when it is decided on, before its wait. When nothing is
/// left, a failed call returns its last error instead of waiting; calls and retries that are under
/// way are left alone.
///
/// A cheap handle: clones are the same budget. Instances share one by its name in the configuration
/// (`retry.budgets.<name>`, `budget: <name>`), or by [`Retry::with_budget`](crate::Retry::with_budget).
///
/// # Examples
///
/// ```
/// use resilience::{Retry, RetryConfig, retry::{RetryBudget, RetryBudgetConfig}};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let nothing = RetryBudgetConfig::builder().ratio(0.0).min_per_second(0).build()?;
/// let budget = RetryBudget::new("backend", nothing);
/// let retry = Retry::new("payment", RetryConfig::default()).with_budget(&budget);
/// let failed = retry.call(|| async { Err::<(), _>("down") }).await;
/// assert!(failed.is_err(), "at once: nothing is left for a retry");
/// assert_eq!((budget.metrics().calls, budget.metrics().refused), (1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RetryBudget {
    shared: Arc<Shared>,
}

/// What clones share.
struct Shared {
    name: Arc<str>,
    clock: Clock,
    state: Mutex<State>,
}

/// What the lock guards.
struct State {
    engine: Engine,
    config: Arc<RetryBudgetConfig>,
    refused: u64,
}

impl RetryBudget {
    /// Makes a budget on the system clock.
    pub fn new(name: impl Into<Arc<str>>, config: RetryBudgetConfig) -> Self {
        Self::with_clock(name, config, Clock::system())
    }

    /// Makes a budget that takes its time from `clock`. A clock that goes back stands still.
    pub fn with_clock(name: impl Into<Arc<str>>, config: RetryBudgetConfig, clock: Clock) -> Self {
        let engine = Engine::new(&config);
        let state = State { engine, config: Arc::new(config), refused: 0 };
        Self { shared: Arc::new(Shared { name: name.into(), clock, state: Mutex::new(state) }) }
    }

    /// Returns the name of the budget.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Returns the settings in force.
    pub fn config(&self) -> Arc<RetryBudgetConfig> {
        Arc::clone(&self.shared.state.lock().config)
    }

    /// Tells what the budget looks like now. Looking changes nothing.
    pub fn metrics(&self) -> RetryBudgetMetrics {
        let now = self.shared.clock.now();
        let state = self.shared.state.lock();
        let window = state.engine.window(now);
        RetryBudgetMetrics {
            calls: window.calls,
            retries: window.retries,
            refused: state.refused,
            available: window.available,
        }
    }

    /// Counts a call whose first attempt starts.
    pub(crate) fn deposit(&self) {
        let now = self.shared.clock.now();
        self.shared.state.lock().engine.deposit(now);
    }

    /// Takes one retry; `false` when there is none left.
    pub(crate) fn withdraw(&self) -> bool {
        let now = self.shared.clock.now();
        let mut state = self.shared.state.lock();
        let granted = state.engine.withdraw(now);
        state.refused += u64::from(!granted);
        granted
    }

    /// Puts other settings in force; what was counted stays.
    pub(crate) fn reconfigure(&self, config: RetryBudgetConfig) {
        let mut state = self.shared.state.lock();
        state.engine.reconfigure(&config);
        state.config = Arc::new(config);
    }

    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.shared.name)
    }
}

/// A budget equals itself and its clones only.
impl PartialEq for RetryBudget {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryBudget").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread, time::Duration};

    use super::*;

    #[test]
    fn d17_of_64_threads_that_race_exactly_the_budget_is_granted() {
        let (clock, _hand) = Clock::manual(Duration::from_secs(1));
        let config = RetryBudgetConfig::builder().ratio(0.5).min_per_second(4).build().unwrap();
        let budget = RetryBudget::with_clock("b", config, clock);
        (0..120).for_each(|_| budget.deposit());
        let start = Barrier::new(64);
        let granted: usize = thread::scope(|scope| {
            let race = || {
                start.wait();
                (0..10).filter(|_| budget.withdraw()).count()
            };
            let threads: Vec<_> = (0..64).map(|_| scope.spawn(race)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(granted, 100);
        let metrics = budget.metrics();
        assert_eq!((metrics.retries, metrics.refused, metrics.available), (100, 540, 0));
    }

    fn config(retries_a_second: u32) -> RetryBudgetConfig {
        let config = RetryBudgetConfig::builder().ratio(0.0).min_per_second(retries_a_second);
        config.build().unwrap()
    }

    fn budget(retries_a_second: u32) -> RetryBudget {
        let (clock, _hand) = Clock::manual(Duration::ZERO);
        RetryBudget::with_clock("b", config(retries_a_second), clock)
    }

    #[test]
    fn a_reload_changes_the_limits_and_keeps_what_was_counted() {
        let budget = budget(1);
        assert!(budget.withdraw());
        budget.reconfigure(config(2));
        assert_eq!(*budget.config(), config(2));
        let metrics = budget.metrics();
        assert_eq!((metrics.retries, metrics.available), (1, 19));
    }

    #[test]
    fn a_budget_equals_its_clones_only() {
        let one = budget(1);
        assert_eq!(one, one.clone());
        assert_ne!(one, budget(1));
    }
}
