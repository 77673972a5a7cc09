use std::{
    fmt,
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::oneshot, task::JoinHandle};

use super::{
    Answer, Key, Regular, Script, StoreConfig, StoreEvent, StoreFailure, StoreMetrics,
    driver::{Driver, Job, due},
    guard::Guard,
    health::Health,
};
use crate::{
    config::{ConfigError, Problem},
    events::Events,
};

/// What several processes share: a connection to Redis, Valkey or a Redis Cluster.
///
/// A cheap handle: clones are the same connection. A registry opens the one that its configuration
/// has under `redis`.
///
/// # Examples
///
/// ```
/// use resilience::store::{Store, StoreConfig};
///
/// // Nobody has to be there yet.
/// let store = Store::open(StoreConfig::builder(["redis://127.0.0.1:1"], "shop").build()?)?;
/// assert!(!store.metrics().degraded);
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    config: Arc<StoreConfig>,
    guard: Guard,
    health: Arc<Health>,
    driver: Driver,
}

impl Store {
    /// Starts to connect, and returns at once: a server that is away is what limits have their
    /// `on_store_failure` for.
    ///
    /// # Errors
    ///
    /// When the thread for the connection cannot be started.
    pub fn open(config: StoreConfig) -> Result<Self, ConfigError> {
        let config = Arc::new(config);
        let guard = Guard::default();
        let health = Arc::new(Health::new(config.namespace()));
        let driver = Driver::start(Arc::clone(&config), guard.clone(), Arc::clone(&health))
            .map_err(|error| {
                let message = format!("the thread for the store cannot be started: {error}");
                ConfigError::new(vec![Problem::new(message).path("redis")])
            })?;
        Ok(Self { shared: Arc::new(Shared { config, guard, health, driver }) })
    }

    /// Returns the settings.
    pub fn config(&self) -> &StoreConfig {
        &self.shared.config
    }

    /// Returns the events of the store: `DEGRADED`, `RECOVERED`.
    pub fn events(&self) -> Events<StoreEvent> {
        self.shared.health.events().clone()
    }

    /// Tells how the store does. Looking changes nothing.
    pub fn metrics(&self) -> StoreMetrics {
        self.shared.health.metrics()
    }

    /// How many processes share what is in the store.
    pub(crate) fn nodes(&self) -> u32 {
        self.shared.config.nodes()
    }

    /// How long a decision may take.
    pub(crate) fn decision_timeout(&self) -> Duration {
        self.shared.config.decision_timeout()
    }

    /// Where something is in this store.
    pub(crate) fn key(&self, kind: &str, name: &str, key: Option<&str>) -> Key {
        Key::new(self.shared.config.namespace(), kind, name, key)
    }

    /// Until when a decision may take that is wanted now.
    pub(crate) fn due(&self) -> Instant {
        due(self.decision_timeout())
    }

    /// Has a script decide.
    pub(crate) fn decide(
        &self,
        script: &'static Script,
        key: &Key,
        arguments: Vec<String>,
    ) -> Answer {
        self.decide_before(self.due(), script, key, arguments)
    }

    /// The same for who has waited already. What is due is not sent any more.
    pub(crate) fn decide_before(
        &self,
        due: Instant,
        script: &'static Script,
        key: &Key,
        arguments: Vec<String>,
    ) -> Answer {
        let Shared { guard, health, driver, .. } = &*self.shared;
        let now = Instant::now();
        if due <= now {
            driver.tell(health.note(Some(StoreFailure::Timeout)));
            return Answer::undecided(None);
        }
        let permit = match guard.enter(now) {
            Ok(permit) => permit,
            Err(rests_for) => {
                driver.tell(health.note(Some(StoreFailure::Guard)));
                return Answer::undecided(rests_for);
            }
        };
        let (reply, receiver) = oneshot::channel();
        let job = Job { script, key: key.clone(), arguments, permit, due, reply };
        if driver.send(job).is_err() {
            // The permit went with the job, and told nothing.
            driver.tell(health.note(Some(StoreFailure::Overload)));
            return Answer::undecided(None);
        }
        Answer::asked(receiver)
    }

    /// Takes note of an answer in which the one who asked found no sense.
    pub(crate) fn note_garbage(&self) {
        let Shared { health, driver, .. } = &*self.shared;
        driver.tell(health.note(Some(StoreFailure::Garbage)));
    }

    /// Runs something on the store's thread, which goes on whether or not anybody waits for it: nothing
    /// may block there. It is cut off if all handles of the store are gone.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.shared.driver.run(future)
    }

    /// Has something speak with the store for as long as it wants to. The store ends before that if all
    /// its handles are gone.
    pub(crate) fn every(&self, regular: impl Regular) {
        self.shared.driver.repeat(regular);
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("config", &self.shared.config)
            .field("metrics", &self.metrics())
            .finish_non_exhaustive()
    }
}
