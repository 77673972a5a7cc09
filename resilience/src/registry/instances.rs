use std::{collections::HashMap, sync::Arc};

use parking_lot::RwLock;
use resilience_settings::{Pattern, canonical};

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

            fn name(&self) -> &str {
                $instance::name(self)
            }
        })*

        /// The rules between the settings of one instance, whatever its pattern.
        pub(crate) fn check(settings: &Settings) -> Vec<Problem> {
            match settings.pattern() {
                $(Pattern::$instance => $config::from_settings(settings).err(),)*
            }
            .unwrap_or_default()
        }
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

/// The instances of one pattern by name, in any spelling of it.
#[derive(Debug)]
pub(super) struct Instances<T> {
    by_name: RwLock<HashMap<String, T>>,
}

impl<T> Default for Instances<T> {
    fn default() -> Self {
        Self { by_name: RwLock::new(HashMap::new()) }
    }
}

impl<T: Managed> Instances<T> {
    pub(super) fn find(&self, name: &str) -> Option<T> {
        self.by_name.read().get(&canonical(name)).cloned()
    }

    /// `create` logs and so may run a subscriber's code: it runs outside of the lock. Of several
    /// instances that a race makes, the first one put in is everybody's.
    pub(super) fn get_or_create(&self, name: &str, create: impl FnOnce() -> T) -> T {
        if let Some(found) = self.find(name) {
            return found;
        }
        let created = create();
        self.by_name.write().entry(canonical(name)).or_insert(created).clone()
    }

    pub(super) fn remove(&self, name: &str) -> bool {
        self.by_name.write().remove(&canonical(name)).is_some()
    }

    pub(super) fn all(&self) -> Vec<T> {
        let by_name = self.by_name.read();
        let mut all: Vec<_> = by_name.iter().collect();
        all.sort_by_key(|(name, _)| name.as_str());
        all.into_iter().map(|(_, instance)| instance.clone()).collect()
    }
}
