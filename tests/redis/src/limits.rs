//! Shared limits as the tests want them.

use std::time::Duration;

use resilience::{
    RateLimiter, RateLimiterConfig,
    rate_limiter::{Algorithm, OnStoreFailure, RateLimiterConfigBuilder, Scope},
    store::{Store, StoreConfig, StoreConfigBuilder},
};

/// What every count has to hold for.
pub const ALGORITHMS: [Algorithm; 2] = [Algorithm::FixedWindow, Algorithm::Gcra];

/// A period that ends in no test.
pub const A_YEAR: Duration = Duration::from_hours(24 * 365);

/// Settings of a store in which a decision may take its time: a loaded machine is not what is tried.
pub fn patient(url: &str) -> StoreConfigBuilder {
    StoreConfig::builder([url], "test").decision_timeout(Duration::from_secs(10))
}

/// Opens a [`patient`] store.
///
/// # Panics
///
/// When it does not open.
pub fn open(url: &str) -> Store {
    open_with(patient(url))
}

/// Opens a store.
///
/// # Panics
///
/// When it does not open.
pub fn open_with(config: StoreConfigBuilder) -> Store {
    Store::open(config.build().expect("settings in range")).expect("a thread")
}

/// Settings of a shared limit that lets nobody wait, and nobody in without the store.
pub fn limit(algorithm: Algorithm, permissions: u32, period: Duration) -> RateLimiterConfigBuilder {
    RateLimiterConfig::builder()
        .scope(Scope::Global)
        .algorithm(algorithm)
        .limit_for_period(permissions)
        .limit_refresh_period(period)
        .timeout_duration(Duration::ZERO)
        .on_store_failure(OnStoreFailure::Closed)
}

/// A limiter of that name.
///
/// # Panics
///
/// When a setting is out of its range.
pub fn limiter(name: &str, config: RateLimiterConfigBuilder, store: &Store) -> RateLimiter {
    RateLimiter::with_store(name, config.build().expect("settings in range"), store)
}

/// How many of some calls are let in.
pub fn admitted(limiter: &RateLimiter, calls: u32) -> u32 {
    (0..calls).map(|_| u32::from(limiter.try_acquire(1).is_ok())).sum()
}
