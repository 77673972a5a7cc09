//! A task that hands the metrics over again and again.

use std::time::Duration;

use tokio::{
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

use super::publish::publish;
use crate::{Resilience, harmless::harmless, registry::WeakResilience};

/// How often [`publish_every`] is meant to publish: every five seconds.
pub const DEFAULT_PERIOD: Duration = Duration::from_secs(5);

/// Shorter periods are taken for this one.
const LEAST_PERIOD: Duration = Duration::from_millis(10);

/// [`publish`]es in the background until it is dropped, or until nobody has a handle to the
/// registry any more.
#[derive(Debug)]
#[must_use = "publishing stops when it is dropped"]
pub struct Publisher {
    task: JoinHandle<()>,
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Calls [`publish`] at once and then every `period`, which is 10 ms at least, on a task of the present
/// runtime.
///
/// The publisher does not keep the registry: it stops with the registry's last handle. When the recorder
/// panics, that round is given up and the next one tries again; the first such panic is logged, with the
/// feature `tracing`.
///
/// # Panics
///
/// When it is not called within a tokio runtime that has timers.
///
/// # Examples
///
/// ```
/// use resilience::{Config, Resilience, metrics};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), resilience::ConfigError> {
/// let registry = Resilience::from_config(Config::default())?;
/// let _publisher = metrics::publish_every(&registry, metrics::DEFAULT_PERIOD);
/// # Ok(())
/// # }
/// ```
pub fn publish_every(registry: &Resilience, period: Duration) -> Publisher {
    let (registry, mut ticks) = (registry.downgrade(), interval(period.max(LEAST_PERIOD)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let task = tokio::spawn(async move {
        let mut has_panicked = false;
        loop {
            ticks.tick().await;
            let Some(published) = round(&registry) else { return };
            if !published && !has_panicked {
                has_panicked = true;
                #[cfg(feature = "tracing")]
                harmless(|| {
                    tracing::warn!(
                        target: "resilience",
                        "the recorder of the metrics has panicked: it will be tried again every \
                         {period:?}, and this is said once"
                    );
                });
            }
        }
    });
    Publisher { task }
}

/// Publishes unless the registry is gone, and says whether the recorder took it all. Nothing of the
/// registry is held between two rounds.
fn round(registry: &WeakResilience) -> Option<bool> {
    let registry = registry.upgrade()?;
    let mut published = false;
    harmless(|| {
        publish(&registry);
        published = true;
    });
    Some(published)
}

#[cfg(all(test, feature = "tracing"))]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    };

    use ::metrics::{
        Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
        set_default_local_recorder,
    };
    use tracing::{Event, Subscriber};
    use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt, registry};

    use super::*;
    use crate::Config;

    #[derive(Clone, Default)]
    struct Counted(Arc<AtomicUsize>);

    impl<S: Subscriber> Layer<S> for Counted {
        fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// Panics at the first counter of each round.
    #[derive(Default)]
    struct Panicking(AtomicUsize);

    impl Recorder for Panicking {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
            self.0.fetch_add(1, Relaxed);
            panic!("a recorder's bug");
        }

        fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::noop()
        }

        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            Histogram::noop()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_recorder_that_panics_is_tried_again_and_told_of_once() {
        let told = Counted::default();
        let _subscriber = tracing::subscriber::set_default(registry().with(told.clone()));
        let recorder = Panicking::default();
        let _recorder = set_default_local_recorder(&recorder);
        let resilience = Resilience::from_config(Config::default()).unwrap();
        let _publisher = publish_every(&resilience, DEFAULT_PERIOD);
        tokio::time::sleep(2 * DEFAULT_PERIOD + DEFAULT_PERIOD / 2).await;
        assert_eq!((recorder.0.load(Relaxed), told.0.load(Relaxed)), (3, 1));
        assert!(!resilience.prometheus().is_empty(), "the registry is as it was");
    }
}
