use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use parking_lot::{RwLock, RwLockWriteGuard};
use resilience_settings::Pattern;

use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Retry, ThreadPoolBulkhead, TimeLimiter,
    aftermath::Aftermath,
    bulkhead::BulkheadConfig,
    circuit_breaker::CircuitBreakerConfig,
    clock::Clock,
    config::{Problem, Settings},
    keyed,
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
    fn reconfigure(&self, config: Self::Config) -> Aftermath;
    fn enable(&self, on: bool) -> Aftermath;
    fn name(&self) -> &str;
    /// Lets go of what an instance holds for others: it was removed, and handles may live on.
    fn retire(&self);
}

macro_rules! managed {
    ($($instance:ident: $config:ident $(=> $clear:path)?),* $(,)?) => {
        $(impl Managed for $instance {
            const PATTERN: Pattern = Pattern::$instance;
            type Config = $config;

            fn from_settings(settings: &Settings) -> Result<$config, Vec<Problem>> {
                $config::from_settings(settings)
            }

            fn with_clock(name: Arc<str>, config: $config, clock: Clock) -> Self {
                $instance::with_clock(name, config, clock)
            }

            fn reconfigure(&self, config: $config) -> Aftermath {
                $instance::reconfigure(self, config)
            }

            fn enable(&self, on: bool) -> Aftermath {
                $instance::enable(self, on)
            }

            fn retire(&self) {
                self.events().close();
                $($clear(self);)?
            }

            fn name(&self) -> &str {
                $instance::name(self)
            }
        })*
    };
}

managed! {
    CircuitBreaker: CircuitBreakerConfig => keyed::clear,
    Retry: RetryConfig => keyed::clear,
    RateLimiter: RateLimiterConfig => keyed::clear,
    TimeLimiter: TimeLimiterConfig => keyed::clear,
    Bulkhead: BulkheadConfig => keyed::clear,
    ThreadPoolBulkhead: ThreadPoolBulkheadConfig,
}

/// The instances of one pattern by key: see [`InForce::key`](super::in_force::InForce::key).
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

    /// Puts an instance in, unless `is_stale` by now, and calls `added` under the lock if it is the
    /// first of its key: it is everybody's then. Gives that one, and whether it is new.
    pub(super) fn insert(
        &self,
        key: String,
        instance: &T,
        is_stale: impl FnOnce() -> bool,
        added: impl FnOnce(),
    ) -> Option<(T, bool)> {
        let mut by_key = self.by_key.write();
        if is_stale() {
            return None;
        }
        Some(match by_key.entry(key) {
            Entry::Occupied(first) => (first.get().clone(), false),
            Entry::Vacant(place) => {
                added();
                (place.insert(instance.clone()).clone(), true)
            }
        })
    }

    /// Takes an instance out and calls `removed` with it under the lock. The caller retires it.
    pub(super) fn take(&self, key: &str, removed: impl FnOnce(&T)) -> Option<T> {
        let mut by_key = self.by_key.write();
        by_key.remove(key).inspect(removed)
    }

    /// Keeps everybody else out.
    pub(super) fn lock(&self) -> Locked<'_, T> {
        Locked(self.by_key.write())
    }

    pub(super) fn all(&self) -> Vec<T> {
        let mut all: Vec<T> = self.by_key.read().values().cloned().collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }
}

/// The instances of a pattern, for one change together with those of others.
pub(super) struct Locked<'a, T>(RwLockWriteGuard<'a, HashMap<String, T>>);

impl<T: Managed> Locked<'_, T> {
    /// Keys every instance anew. Where two now have one key, the one of the spelling that is
    /// `preferred` stays, else the first by name; the others are returned.
    pub(super) fn rekey(
        &mut self,
        key: impl Fn(&str) -> String,
        preferred: impl Fn(&str) -> bool,
    ) -> Vec<T> {
        let mut instances: Vec<T> = self.0.drain().map(|(_, instance)| instance).collect();
        instances.sort_by(|a, b| a.name().cmp(b.name()));
        let mut displaced = Vec::new();
        for instance in instances {
            match self.0.entry(key(instance.name())) {
                Entry::Occupied(mut first) if preferred(instance.name()) => {
                    displaced.push(first.insert(instance));
                }
                Entry::Occupied(_) => displaced.push(instance),
                Entry::Vacant(place) => {
                    place.insert(instance);
                }
            }
        }
        displaced
    }
}
