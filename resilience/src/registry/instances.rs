use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use parking_lot::RwLock;
use resilience_settings::Pattern;

use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Retry, ThreadPoolBulkhead, TimeLimiter,
    bulkhead::BulkheadConfig,
    circuit_breaker::CircuitBreakerConfig,
    clock::Clock,
    config::{Problem, Settings},
    rate_limiter::RateLimiterConfig,
    retry::RetryConfig,
    thread_pool_bulkhead::ThreadPoolBulkheadConfig,
    time_limiter::TimeLimiterConfig,
};

/// What the registry needs to know of a pattern's instances.
pub(crate) trait Managed: Clone + Send + Sync + 'static {
    const PATTERN: Pattern;
    type Config: Default;

    fn from_settings(settings: &Settings) -> Result<Self::Config, Vec<Problem>>;
    fn with_clock(name: Arc<str>, config: Self::Config, clock: Clock) -> Self;
    fn reconfigure(&self, config: Self::Config);
    fn name(&self) -> &str;
    /// Lets go of what an instance holds for others: it was removed, and handles may live on.
    fn retire(&self);
}

macro_rules! managed {
    ($($instance:ident: $config:ident),* $(,)?) => {
        $(impl Managed for $instance {
            const PATTERN: Pattern = Pattern::$instance;
            type Config = $config;

            fn from_settings(settings: &Settings) -> Result<$config, Vec<Problem>> {
                $config::from_settings(settings)
            }

            fn with_clock(name: Arc<str>, config: $config, clock: Clock) -> Self {
                $instance::with_clock(name, config, clock)
            }

            fn reconfigure(&self, config: $config) {
                $instance::reconfigure(self, config);
            }

            fn retire(&self) {
                self.events().close();
            }

            fn name(&self) -> &str {
                $instance::name(self)
            }
        })*
    };
}

managed! {
    CircuitBreaker: CircuitBreakerConfig,
    Retry: RetryConfig,
    RateLimiter: RateLimiterConfig,
    TimeLimiter: TimeLimiterConfig,
    Bulkhead: BulkheadConfig,
    ThreadPoolBulkhead: ThreadPoolBulkheadConfig,
}

/// The instances of one pattern by key: see [`Inner::key`](super::Inner::key).
#[derive(Debug)]
pub(super) struct Instances<T> {
    by_key: RwLock<HashMap<String, T>>,
}

impl<T> Default for Instances<T> {
    fn default() -> Self {
        Self { by_key: RwLock::new(HashMap::new()) }
    }
}

impl<T: Managed> Instances<T> {
    pub(super) fn find(&self, key: &str) -> Option<T> {
        self.by_key.read().get(key).cloned()
    }

    /// `create` logs and so may run a subscriber's code: it runs outside of the lock. Of several
    /// instances that a race makes, the first one put in is everybody's.
    pub(super) fn get_or_create(&self, key: String, create: impl FnOnce() -> T) -> T {
        if let Some(found) = self.find(&key) {
            return found;
        }
        let created = create();
        match self.by_key.write().entry(key) {
            Entry::Occupied(first) => first.get().clone(),
            Entry::Vacant(place) => place.insert(created.clone()).clone(),
        }
    }

    pub(super) fn remove(&self, key: &str) -> bool {
        // Taken out first: what the instance owns may use the registry when it is dropped.
        let removed = self.by_key.write().remove(key);
        removed.inspect(T::retire).is_some()
    }

    /// Keys every instance anew. Where two now have one key, the one made first stays.
    pub(super) fn rekey(&self, key: impl Fn(&str) -> String) {
        let instances: Vec<T> = self.all();
        let mut by_key = HashMap::new();
        for instance in instances {
            by_key.entry(key(instance.name())).or_insert(instance);
        }
        let before = std::mem::replace(&mut *self.by_key.write(), by_key);
        drop(before);
    }

    pub(super) fn all(&self) -> Vec<T> {
        let mut all: Vec<T> = self.by_key.read().values().cloned().collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }
}
