use std::time::Duration;

use resilience_settings::Value;

use crate::{
    config::{Problem, Settings, contradictions, typed_config},
    keyed::KeySettings,
    scope::Scope,
};

/// How permissions come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refill {
    /// All at once with each period, as in Resilience4j.
    Interval,
    /// One by one, spread evenly over the period.
    Greedy,
}

/// How a global limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// In windows of the store's clock, as [`Refill::Interval`] does in one process.
    FixedWindow,
    /// By the generic cell rate algorithm, as [`Refill::Greedy`] does in one process.
    Gcra,
}

/// What a global limit does while the store does not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnStoreFailure {
    /// Lets every call through: better too many calls than none.
    Open,
    /// Refuses every call: better none than too many.
    Closed,
    /// Counts in this process, at its share of the limit: the limit divided by the store's
    /// `nodes`, rounded down, at least 1.
    Local,
}

/// The checked settings of a [`RateLimiter`](super::RateLimiter).
///
/// | setting | default | range |
/// |---|---|---|
/// | `limit_for_period` | 50 | 1 to 4,294,967,295 |
/// | `limit_refresh_period` | 500 ns | 1 ns to 292 years |
/// | `timeout_duration` | 5 s | 0 to 292 years |
/// | `refill` | `interval` | `interval`, `greedy` |
/// | `scope` | `local` | `local`, `global` |
/// | `algorithm` | `fixed_window` | `fixed_window`, `gcra` |
/// | `on_store_failure` | required with `scope: global` | `open`, `closed`, `local` |
/// | `lease` | 1 | 1 to 1,000,000, at most the limit |
/// | `register_health_indicator` | false | |
/// | `allow_health_indicator_to_fail` | false | |
/// | `max_keys` | 10,000 | 1 to 1,000,000 |
/// | `key_idle_timeout` | 10 min | from 1 ms |
/// | `metric_keys` | none | at most 100 |
/// | `event_consumer_buffer_size` | 100 | 1 to 100,000 |
/// | `enabled` | true | |
///
/// A [global](Scope::Global) limit goes by `algorithm` and not by `refill`; its period is 1 ms to a
/// year.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::RateLimiterConfig;
///
/// let config = RateLimiterConfig::builder()
///     .limit_for_period(10)
///     .limit_refresh_period(Duration::from_secs(1))
///     .timeout_duration(Duration::ZERO)
///     .build()?;
/// assert_eq!(config.limit_for_period(), 10);
/// # Ok::<(), resilience::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimiterConfig {
    limit_for_period: u32,
    limit_refresh_period: Duration,
    timeout_duration: Duration,
    refill: Refill,
    scope: Scope,
    algorithm: Algorithm,
    on_store_failure: Option<OnStoreFailure>,
    lease: u32,
    register_health_indicator: bool,
    allow_health_indicator_to_fail: bool,
    pub(crate) keyed: KeySettings,
    event_consumer_buffer_size: u32,
    enabled: bool,
}

impl RateLimiterConfig {
    /// Starts from these settings.
    pub fn to_builder(&self) -> RateLimiterConfigBuilder {
        let builder = match self.on_store_failure {
            Some(policy) => Self::builder().on_store_failure(policy),
            None => Self::builder(),
        };
        builder
            .limit_for_period(self.limit_for_period)
            .limit_refresh_period(self.limit_refresh_period)
            .timeout_duration(self.timeout_duration)
            .refill(self.refill)
            .scope(self.scope)
            .algorithm(self.algorithm)
            .lease(self.lease)
            .register_health_indicator(self.register_health_indicator)
            .allow_health_indicator_to_fail(self.allow_health_indicator_to_fail)
            .keyed(&self.keyed)
            .event_consumer_buffer_size(self.event_consumer_buffer_size)
            .enabled(self.enabled)
    }

    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, Vec<Problem>> {
        let problems = contradictions(settings);
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            limit_for_period: settings.u32("limit_for_period"),
            limit_refresh_period: settings.duration("limit_refresh_period"),
            timeout_duration: settings.duration("timeout_duration"),
            refill: match settings.word("refill") {
                "greedy" => Refill::Greedy,
                _ => Refill::Interval,
            },
            scope: Scope::of(settings.word("scope")),
            algorithm: match settings.word("algorithm") {
                "gcra" => Algorithm::Gcra,
                _ => Algorithm::FixedWindow,
            },
            on_store_failure: settings.optional_word("on_store_failure").map(|word| match word {
                "open" => OnStoreFailure::Open,
                "closed" => OnStoreFailure::Closed,
                _ => OnStoreFailure::Local,
            }),
            lease: settings.u32("lease"),
            register_health_indicator: settings.bool("register_health_indicator"),
            allow_health_indicator_to_fail: settings.bool("allow_health_indicator_to_fail"),
            keyed: KeySettings::from_settings(settings),
            event_consumer_buffer_size: settings.u32("event_consumer_buffer_size"),
            enabled: settings.bool("enabled"),
        })
    }

    /// Returns how many permissions a period has.
    pub fn limit_for_period(&self) -> u32 {
        self.limit_for_period
    }

    /// Returns how long a period is.
    pub fn limit_refresh_period(&self) -> Duration {
        self.limit_refresh_period
    }

    /// Returns how long a call may wait for its turn.
    pub fn timeout_duration(&self) -> Duration {
        self.timeout_duration
    }

    /// Returns how permissions come back.
    pub fn refill(&self) -> Refill {
        self.refill
    }

    /// Returns whose limit it is.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns how a global limit counts.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns what a global limit does while the store does not decide.
    pub fn on_store_failure(&self) -> Option<OnStoreFailure> {
        self.on_store_failure
    }

    /// Returns how many permissions of a global limit are fetched at a time.
    pub fn lease(&self) -> u32 {
        self.lease
    }

    /// Returns whether the health of the process shows the instance.
    pub fn register_health_indicator(&self) -> bool {
        self.register_health_indicator
    }

    /// Returns whether the instance may turn the health of the process to DOWN.
    pub fn allow_health_indicator_to_fail(&self) -> bool {
        self.allow_health_indicator_to_fail
    }
}

typed_config! {
    RateLimiterConfig, RateLimiterConfigBuilder, RateLimiter, keyed;
    /// Sets how many permissions a period has, at least 1; 50 by default.
    limit_for_period(permissions: u32) = Value::Integer(permissions.into());
    /// Sets how long a period is, at least 1 ns; 500 ns by default.
    limit_refresh_period(period: Duration) = Value::Duration(period);
    /// Sets how long a call may wait for its turn; 5 s by default, 0 never waits.
    timeout_duration(timeout: Duration) = Value::Duration(timeout);
    /// Sets how permissions come back; [`Refill::Interval`] by default.
    refill(refill: Refill) = Value::Word(match refill {
        Refill::Interval => "interval".to_owned(),
        Refill::Greedy => "greedy".to_owned(),
    });
    /// Sets whose limit it is; [`Scope::Local`] by default. A global one needs
    /// [`on_store_failure`](Self::on_store_failure) too.
    scope(scope: Scope) = Value::Word(scope.as_str().to_owned());
    /// Sets how a global limit counts; [`Algorithm::FixedWindow`] by default.
    algorithm(algorithm: Algorithm) = Value::Word(match algorithm {
        Algorithm::FixedWindow => "fixed_window".to_owned(),
        Algorithm::Gcra => "gcra".to_owned(),
    });
    /// Sets what a global limit does while the store does not decide; there is no default.
    on_store_failure(policy: OnStoreFailure) = Value::Word(match policy {
        OnStoreFailure::Open => "open".to_owned(),
        OnStoreFailure::Closed => "closed".to_owned(),
        OnStoreFailure::Local => "local".to_owned(),
    });
    /// Sets how many permissions of a global limit are fetched at a time, 1 to 1,000,000; 1 by
    /// default. Those that are fetched and not used expire with the window or period. All processes together
    /// may admit up to `lease - 1` calls more for each of them.
    lease(permissions: u32) = Value::Integer(permissions.into());
    /// Sets whether the health of the process shows the instance; it does not by default.
    register_health_indicator(on: bool) = Value::Bool(on);
    /// Sets whether the instance may turn the health of the process to DOWN; it may not by default.
    allow_health_indicator_to_fail(on: bool) = Value::Bool(on);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_resilience4js() {
        let config = RateLimiterConfig::default();
        assert_eq!(config.limit_for_period(), 50);
        assert_eq!(config.limit_refresh_period(), Duration::from_nanos(500));
        assert_eq!(config.timeout_duration(), Duration::from_secs(5));
        assert_eq!(config.refill(), Refill::Interval);
        assert!(config.is_enabled());
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let error = RateLimiterConfig::builder()
            .limit_for_period(0)
            .limit_refresh_period(Duration::ZERO)
            .build()
            .unwrap_err();
        assert_eq!(error.problems().len(), 2);
    }

    #[test]
    fn a_duration_beyond_signed_nanoseconds_is_refused() {
        let error = RateLimiterConfig::builder()
            .timeout_duration(Duration::from_nanos(1 << 63))
            .build()
            .unwrap_err();
        assert_eq!(error.problems()[0].path.as_deref(), Some("timeout_duration"));
        assert!(error.to_string().ends_with("expected a duration of at most 292 years"));
    }

    /// Every setting is another than its default.
    fn unusual() -> RateLimiterConfigBuilder {
        RateLimiterConfig::builder()
            .limit_for_period(7)
            .limit_refresh_period(Duration::from_millis(3))
            .timeout_duration(Duration::from_millis(2))
            .refill(Refill::Greedy)
            .scope(Scope::Global)
            .algorithm(Algorithm::Gcra)
            .on_store_failure(OnStoreFailure::Closed)
            .lease(5)
            .register_health_indicator(true)
            .allow_health_indicator_to_fail(true)
            .max_keys(8)
            .key_idle_timeout(Duration::from_secs(8))
            .metric_keys(["a", "b"])
            .event_consumer_buffer_size(9)
            .enabled(false)
    }

    #[test]
    fn a_configuration_survives_the_way_through_its_builder() {
        let config = unusual().build().unwrap();
        assert_eq!(config.to_builder().build().unwrap(), config);
    }

    #[test]
    fn every_setting_is_read_as_it_was_set() {
        let config = unusual().build().unwrap();
        assert_eq!(config.limit_for_period(), 7);
        assert_eq!(config.limit_refresh_period(), Duration::from_millis(3));
        assert_eq!(config.timeout_duration(), Duration::from_millis(2));
        assert_eq!(config.refill(), Refill::Greedy);
        assert_eq!(config.scope(), Scope::Global);
        assert_eq!(config.algorithm(), Algorithm::Gcra);
        assert_eq!(config.on_store_failure(), Some(OnStoreFailure::Closed));
        assert_eq!(config.lease(), 5);
        assert_eq!(config.event_consumer_buffer_size(), 9);
        assert!(config.register_health_indicator());
        assert!(config.allow_health_indicator_to_fail());
        assert!(!config.is_enabled());
    }

    #[test]
    fn a_global_limit_says_what_happens_without_the_store() {
        let global = RateLimiterConfig::builder().scope(Scope::Global);
        let error = global.clone().limit_refresh_period(Duration::from_secs(1)).build();
        let error = error.unwrap_err();
        assert_eq!(error.problems()[0].path.as_deref(), Some("on_store_failure"));
        assert!(error.to_string().contains("`local` counts them"), "{error}");
    }

    #[test]
    fn a_global_limit_has_a_period_and_a_lease_that_a_store_can_count_by() {
        let global = RateLimiterConfig::builder()
            .scope(Scope::Global)
            .on_store_failure(OnStoreFailure::Local)
            .limit_for_period(5)
            .lease(6);
        let error = global.build().unwrap_err();
        let paths: Vec<_> = error.problems().iter().map(|problem| &problem.path).collect();
        let told = ["limit_refresh_period", "lease"].map(|path| Some(path.to_owned()));
        assert_eq!(paths, told.iter().collect::<Vec<_>>());
    }
}
