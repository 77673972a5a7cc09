use std::{sync::Arc, time::Duration};

use resilience_settings::Value;

use super::{Interval, RetryBudget};
use crate::{
    config::{Problem, Settings, kind_list, typed_config},
    keyed::KeySettings,
};

/// The checked settings of a [`Retry`](super::Retry).
///
/// | setting | default | range |
/// |---|---|---|
/// | `max_attempts` | 3, the first call included | 1 to 4,294,967,295 |
/// | `wait_duration` | 500 ms | any duration; 0 never waits |
/// | `enable_exponential_backoff` | false | |
/// | `exponential_backoff_multiplier` | 1.5 | above 0 |
/// | `exponential_max_wait_duration` | no cap | any duration |
/// | `enable_randomized_wait` | false | |
/// | `randomized_wait_factor` | 0.5 | from 0, below 1 |
/// | `retry_errors` | all kinds but `call_not_permitted` | error kinds |
/// | `ignore_errors` | none | error kinds |
/// | `fail_after_max_attempts` | false | |
/// | `retry_after_max` | 30 s | any duration |
/// | `total_timeout` | none | at least 1 ms |
/// | `budget` | none | the name of a [`RetryBudget`] |
/// | `max_keys` | 10,000 | 1 to 1,000,000 |
/// | `key_idle_timeout` | 10 min | from 1 ms |
/// | `metric_keys` | none | at most 100 |
/// | `event_consumer_buffer_size` | 100 | 1 to 100,000 |
/// | `enabled` | true | |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::RetryConfig;
///
/// let config = RetryConfig::builder()
///     .max_attempts(4)
///     .wait_duration(Duration::from_millis(100))
///     .enable_exponential_backoff(true)
///     .exponential_backoff_multiplier(2.0)
///     .exponential_max_wait_duration(Duration::from_secs(2))
///     .build()?;
/// assert_eq!(config.max_attempts(), 4);
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
pub struct RetryConfig {
    max_attempts: u32,
    wait_duration: Duration,
    enable_exponential_backoff: bool,
    exponential_backoff_multiplier: f64,
    exponential_max_wait_duration: Option<Duration>,
    enable_randomized_wait: bool,
    randomized_wait_factor: f64,
    /// The program's own, instead of what the settings above make.
    own_interval: Option<Interval>,
    interval: Interval,
    retry_errors: Arc<[String]>,
    ignore_errors: Arc<[String]>,
    fail_after_max_attempts: bool,
    retry_after_max: Duration,
    total_timeout: Option<Duration>,
    budget: Option<Arc<str>>,
    /// The budget itself, where somebody has looked it up.
    found_budget: Option<RetryBudget>,
    pub(crate) keyed: KeySettings,
    event_consumer_buffer_size: u32,
    enabled: bool,
}

impl RetryConfig {
    /// Starts from these settings.
    pub fn to_builder(&self) -> RetryConfigBuilder {
        let mut builder = Self::builder()
            .max_attempts(self.max_attempts)
            .wait_duration(self.wait_duration)
            .enable_exponential_backoff(self.enable_exponential_backoff)
            .exponential_backoff_multiplier(self.exponential_backoff_multiplier)
            .enable_randomized_wait(self.enable_randomized_wait)
            .randomized_wait_factor(self.randomized_wait_factor)
            .retry_errors(&*self.retry_errors)
            .ignore_errors(&*self.ignore_errors)
            .fail_after_max_attempts(self.fail_after_max_attempts)
            .retry_after_max(self.retry_after_max)
            .keyed(&self.keyed)
            .event_consumer_buffer_size(self.event_consumer_buffer_size)
            .enabled(self.enabled);
        if let Some(max) = self.exponential_max_wait_duration {
            builder = builder.exponential_max_wait_duration(max);
        }
        if let Some(timeout) = self.total_timeout {
            builder = builder.total_timeout(timeout);
        }
        if let Some(budget) = &self.budget {
            builder = builder.budget(&**budget);
        }
        builder.interval.clone_from(&self.own_interval);
        builder
    }

    /// Fails for nothing at present: no two keys of a retry contradict each other.
    #[expect(clippy::unnecessary_wraps, reason = "every pattern's settings are read the same way")]
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, Vec<Problem>> {
        let float = |key| settings.float(key).expect("the key table gives it a default");
        let wait_duration = settings.duration("wait_duration");
        let enable_exponential_backoff = settings.bool("enable_exponential_backoff");
        let exponential_backoff_multiplier = float("exponential_backoff_multiplier");
        let exponential_max_wait_duration =
            settings.optional_duration("exponential_max_wait_duration");
        let enable_randomized_wait = settings.bool("enable_randomized_wait");
        let randomized_wait_factor = float("randomized_wait_factor");
        let mut interval = if enable_exponential_backoff {
            let grown = Interval::exponential(wait_duration, exponential_backoff_multiplier);
            match exponential_max_wait_duration {
                Some(max) => grown.max(max),
                None => grown,
            }
        } else {
            Interval::fixed(wait_duration)
        };
        if enable_randomized_wait {
            interval = interval.jitter(randomized_wait_factor);
        }
        Ok(Self {
            max_attempts: settings.u32("max_attempts"),
            wait_duration,
            enable_exponential_backoff,
            exponential_backoff_multiplier,
            exponential_max_wait_duration,
            enable_randomized_wait,
            randomized_wait_factor,
            own_interval: None,
            interval,
            retry_errors: Arc::clone(settings.kinds("retry_errors")),
            ignore_errors: Arc::clone(settings.kinds("ignore_errors")),
            fail_after_max_attempts: settings.bool("fail_after_max_attempts"),
            retry_after_max: settings.duration("retry_after_max"),
            total_timeout: settings.optional_duration("total_timeout"),
            budget: settings.optional_word("budget").map(Into::into),
            found_budget: None,
            keyed: KeySettings::from_settings(settings),
            event_consumer_buffer_size: settings.u32("event_consumer_buffer_size"),
            enabled: settings.bool("enabled"),
        })
    }

    fn with_interval(mut self, own: Option<Interval>) -> Result<Self, Vec<Problem>> {
        if let Some(interval) = &own {
            let problems = interval.problems();
            if !problems.is_empty() {
                return Err(problems);
            }
            self.interval = interval.clone();
        }
        self.own_interval = own;
        Ok(self)
    }

    /// The same with the budget that they name; `look_up` gets it by its name.
    pub(crate) fn find_budget(mut self, look_up: impl FnOnce(&str) -> RetryBudget) -> Self {
        self.found_budget = self.budget.as_deref().map(look_up);
        self
    }

    /// The same settings on this budget.
    pub(super) fn on_budget(mut self, budget: &RetryBudget) -> Self {
        self.budget = Some(budget.shared_name());
        self.found_budget = Some(budget.clone());
        self
    }

    pub(super) fn found_budget(&self) -> Option<&RetryBudget> {
        self.found_budget.as_ref()
    }

    /// Returns how many times the call is made at most, the first time included.
    pub fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// Returns how long to wait before the next attempt, before growth or jitter.
    pub fn wait_duration(&self) -> Duration {
        self.wait_duration
    }

    /// Returns whether the wait grows with every attempt.
    pub fn enable_exponential_backoff(&self) -> bool {
        self.enable_exponential_backoff
    }

    /// Returns the factor by which the wait grows.
    pub fn exponential_backoff_multiplier(&self) -> f64 {
        self.exponential_backoff_multiplier
    }

    /// Returns what the wait grows to at most; `None` is without cap.
    pub fn exponential_max_wait_duration(&self) -> Option<Duration> {
        self.exponential_max_wait_duration
    }

    /// Returns whether the wait is spread at random.
    pub fn enable_randomized_wait(&self) -> bool {
        self.enable_randomized_wait
    }

    /// Returns by what fraction, up and down, the wait is spread.
    pub fn randomized_wait_factor(&self) -> f64 {
        self.randomized_wait_factor
    }

    /// Returns the waits between attempts: those that the settings make, or the program's own.
    pub fn interval(&self) -> &Interval {
        &self.interval
    }

    /// Returns the error kinds that are retried; empty is all but `call_not_permitted`.
    pub fn retry_errors(&self) -> &[String] {
        &self.retry_errors
    }

    /// Returns the error kinds that end the retry.
    pub fn ignore_errors(&self) -> &[String] {
        &self.ignore_errors
    }

    /// Returns whether a result that still asks for a retry at the end becomes an error.
    pub fn fail_after_max_attempts(&self) -> bool {
        self.fail_after_max_attempts
    }

    /// Returns the longest wait that `retry_after` or a refusal may ask for.
    pub fn retry_after_max(&self) -> Duration {
        self.retry_after_max
    }

    /// Returns how long after the start of a call the last attempt may start; `None` is without
    /// limit.
    pub fn total_timeout(&self) -> Option<Duration> {
        self.total_timeout
    }

    /// Returns the name of the budget that retries are taken from; `None` is without one.
    pub fn budget(&self) -> Option<&str> {
        self.budget.as_deref()
    }
}

typed_config! {
    RetryConfig, RetryConfigBuilder, Retry, keyed, with interval: Interval = with_interval;
    /// Sets how many times the call is made at most, the first time included; at least 1, 3 by
    /// default.
    max_attempts(attempts: u32) = Value::Integer(attempts.into());
    /// Sets how long to wait before the next attempt; 500 ms by default, 0 never waits.
    wait_duration(wait: Duration) = Value::Duration(wait);
    /// Sets whether the wait grows with every attempt; off by default.
    enable_exponential_backoff(on: bool) = Value::Bool(on);
    /// Sets the factor by which the wait grows: above 0; 1.5 by default.
    exponential_backoff_multiplier(multiplier: f64) = Value::Float(multiplier);
    /// Sets what the wait grows to at most; without limit by default.
    exponential_max_wait_duration(max: Duration) = Value::Duration(max);
    /// Sets whether the wait is spread at random; off by default.
    enable_randomized_wait(on: bool) = Value::Bool(on);
    /// Sets by what fraction, up and down, the wait is spread: from 0, below 1; 0.5 by default.
    randomized_wait_factor(factor: f64) = Value::Float(factor);
    /// Sets the error kinds that are retried; an empty list, the default, is all but
    /// `call_not_permitted`.
    retry_errors(kinds: impl IntoIterator<Item = impl Into<String>>) = kind_list(kinds);
    /// Sets the error kinds that end the retry; none by default.
    ignore_errors(kinds: impl IntoIterator<Item = impl Into<String>>) = kind_list(kinds);
    /// Sets whether a result that still asks for a retry at the end becomes an error; off by default.
    fail_after_max_attempts(on: bool) = Value::Bool(on);
    /// Sets the longest wait that `retry_after` or a refusal may ask for; 30 s by default.
    retry_after_max(max: Duration) = Value::Duration(max);
    /// Sets how long after the start of a call, its first poll, the last attempt may start; at least
    /// 1 ms, without limit by default. An attempt whose wait would end later does not start and the
    /// last error is returned at once; one that is under way is not cut short.
    total_timeout(timeout: Duration) = Value::Duration(timeout);
    /// Names the budget that retries are taken from: one of 1 to 200 characters; none by default.
    ///
    /// A registry looks the name up among its [budgets](crate::Resilience::retry_budget). An instance
    /// that is made without one is put on a budget by [`Retry::with_budget`](super::Retry::with_budget).
    budget(name: impl Into<String>) = Value::Word(name.into());
}

impl RetryConfigBuilder {
    /// Replaces wait, growth and spread by an interval of the caller's own.
    pub fn interval(mut self, interval: Interval) -> Self {
        self.interval = Some(interval);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every setting is another than its default.
    fn unusual() -> RetryConfigBuilder {
        RetryConfig::builder()
            .max_attempts(7)
            .wait_duration(Duration::from_millis(3))
            .enable_exponential_backoff(true)
            .exponential_backoff_multiplier(3.0)
            .exponential_max_wait_duration(Duration::from_secs(1))
            .enable_randomized_wait(true)
            .randomized_wait_factor(0.25)
            .retry_errors(["io"])
            .ignore_errors(["timeout"])
            .fail_after_max_attempts(true)
            .retry_after_max(Duration::from_secs(2))
            .total_timeout(Duration::from_secs(9))
            .budget("shared")
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
        let own = unusual().interval(Interval::custom(|_| None)).build().unwrap();
        assert_eq!(own.to_builder().build().unwrap(), own);
        assert_ne!(own, config);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "nothing is computed")]
    fn every_setting_is_read_as_it_was_set() {
        let config = unusual().build().unwrap();
        assert_eq!(config.max_attempts(), 7);
        assert_eq!(config.wait_duration(), Duration::from_millis(3));
        assert!(config.enable_exponential_backoff());
        let factors = [config.exponential_backoff_multiplier(), config.randomized_wait_factor()];
        assert_eq!(factors, [3.0, 0.25]);
        assert_eq!(config.exponential_max_wait_duration(), Some(Duration::from_secs(1)));
        assert!(config.enable_randomized_wait());
        assert_eq!(config.retry_errors(), ["io"]);
        assert_eq!(config.ignore_errors(), ["timeout"]);
        assert!(config.fail_after_max_attempts());
        assert_eq!(config.retry_after_max(), Duration::from_secs(2));
        assert_eq!(config.total_timeout(), Some(Duration::from_secs(9)));
        assert_eq!(config.budget(), Some("shared"));
        assert_eq!(config.event_consumer_buffer_size(), 9);
        assert!(!config.is_enabled());
        let usual = RetryConfig::default();
        assert!(!usual.enable_exponential_backoff() && !usual.enable_randomized_wait());
        assert!(!usual.fail_after_max_attempts());
    }
}
