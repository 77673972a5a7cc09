use std::sync::Arc;

use tracing::{Level, level_filters::LevelFilter};

use crate::{
    harmless::harmless,
    sync::atomic::{AtomicU64, Ordering},
};

/// How long nothing more is logged after a refusal was, in nanoseconds.
const PAUSE: u64 = 1_000_000_000;

/// Logs refusals, at most one for each instance and second, with how many were left out since the last
/// one. The instances of a name's keys share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RefusalLog(Arc<State>);

#[derive(Debug)]
struct State {
    /// When the next one is logged, on the instance's clock.
    next: AtomicU64,
    suppressed: AtomicU64,
}

impl Default for State {
    fn default() -> Self {
        Self { next: AtomicU64::new(0), suppressed: AtomicU64::new(0) }
    }
}

impl RefusalLog {
    /// Whether there may be a subscriber that wants to hear of refusals.
    #[inline]
    pub(crate) fn is_wanted() -> bool {
        Level::INFO <= LevelFilter::current()
    }

    /// Logs that an instance refused a call. No lock may be held: a subscriber runs code of its own.
    pub(crate) fn refused(&self, layer: &'static str, name: &str, now: u64) {
        self.log_in_turn(now, |suppressed| {
            tracing::info!(
                target: "resilience::refusal",
                refused_by = layer,
                instance = name,
                suppressed,
                "call refused"
            );
        });
    }

    /// Logs that a time limiter cut a call short; as [`refused`](Self::refused).
    pub(crate) fn timed_out(&self, name: &str, now: u64) {
        self.log_in_turn(now, |suppressed| {
            tracing::info!(
                target: "resilience::refusal",
                refused_by = "time_limiter",
                instance = name,
                suppressed,
                "call timed out"
            );
        });
    }

    fn log_in_turn(&self, now: u64, write: impl FnOnce(u64)) {
        // What nobody sees is not counted either.
        let mut is_seen = false;
        harmless(|| {
            is_seen = tracing::enabled!(target: "resilience::refusal", Level::INFO);
        });
        if !is_seen {
            return;
        }
        let State { next, suppressed } = &*self.0;
        let due = next.load(Ordering::Relaxed);
        let later = now.saturating_add(PAUSE);
        // Of those that find the pause over together, one logs and the others are left out.
        if now < due
            || next.compare_exchange(due, later, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            suppressed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let left_out = suppressed.swap(0, Ordering::Relaxed);
        harmless(|| write(left_out));
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Mutex, PoisonError},
        thread,
    };

    use tracing::subscriber::with_default;
    use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt, registry};

    use super::*;
    use crate::{
        Bulkhead, BulkheadConfig,
        test_support::capture::{Capture, SeenLog},
    };

    fn suppressed(logs: &[SeenLog]) -> Vec<String> {
        logs.iter().map(|log| log.fields.get("suppressed").to_owned()).collect()
    }

    #[test]
    fn one_refusal_a_second_is_logged_and_tells_how_many_were_not() {
        let (capture, _guard) = Capture::start();
        let log = RefusalLog::default();
        for now in [0, 1, PAUSE - 1, PAUSE, 3 * PAUSE, 3 * PAUSE + 1] {
            log.refused("bulkhead", "inventory", now);
        }
        let logs = capture.logs();
        assert_eq!(suppressed(&logs), ["0", "2", "0"]);
        assert_eq!(logs[0].level, Level::INFO);
        assert_eq!(logs[0].fields.get("refused_by"), "bulkhead");
        assert_eq!(logs[0].fields.get("instance"), "inventory");
    }

    #[test]
    fn what_no_subscriber_sees_is_not_counted() {
        let log = RefusalLog::default();
        log.refused("bulkhead", "inventory", 0);
        let (capture, _guard) = Capture::start();
        log.refused("bulkhead", "inventory", 1);
        assert_eq!(suppressed(&capture.logs()), ["0"]);
    }

    #[test]
    fn all_keys_of_a_name_are_one_instance_here() {
        let (capture, _guard) = Capture::start();
        let config = BulkheadConfig::builder().max_concurrent_calls(0).build().unwrap();
        let bulkhead = Bulkhead::new("tenant", config);
        for key in ["user-1", "user-2", "user-3"] {
            assert!(bulkhead.keyed(key).try_acquire().is_err());
        }
        let logs = capture.logs();
        assert_eq!(logs.len(), 1);
        assert!(!format!("{logs:?}").contains("user-"));
    }

    /// Adds up what is told: refusals that are logged, and those that are said to be left out.
    #[derive(Clone, Default)]
    struct Sum(Arc<Mutex<u64>>);

    impl<S: tracing::Subscriber> Layer<S> for Sum {
        fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
            struct LeftOut(u64);
            impl tracing::field::Visit for LeftOut {
                fn record_u64(&mut self, _: &tracing::field::Field, value: u64) {
                    self.0 = value;
                }
                fn record_debug(&mut self, _: &tracing::field::Field, _: &dyn std::fmt::Debug) {}
            }
            let mut left_out = LeftOut(0);
            event.record(&mut left_out);
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) += 1 + left_out.0;
        }
    }

    #[test]
    fn threads_lose_no_refusal() {
        let (log, sum, time) = (RefusalLog::default(), Sum::default(), AtomicU64::new(0));
        let refuse = || log.refused("bulkhead", "b", time.fetch_add(PAUSE / 7, Ordering::Relaxed));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    with_default(registry().with(sum.clone()), || (0..500).for_each(|_| refuse()));
                });
            }
        });
        let unreported = log.0.suppressed.load(Ordering::Relaxed);
        assert_eq!(*sum.0.lock().unwrap() + unreported, 4 * 500);
    }
}
