use std::{fmt, sync::Arc, time::Duration};

use resilience_settings::{Pattern, Value};

use super::Interval;
use crate::config::{ConfigError, Draft, Problem, Settings};

/// The checked settings of a [`Retry`](super::Retry).
///
/// | setting | default |
/// | --- | --- |
/// | `max_attempts` | 3, the first call included |
/// | `wait_duration` | 500 ms |
/// | `enable_exponential_backoff` | false |
/// | `exponential_backoff_multiplier` | 1.5 |
/// | `exponential_max_wait_duration` | no cap |
/// | `enable_randomized_wait` | false |
/// | `randomized_wait_factor` | 0.5 |
/// | `retry_errors` | all kinds but `call_not_permitted` |
/// | `ignore_errors` | none |
/// | `fail_after_max_attempts` | false |
/// | `retry_after_max` | 30 s |
/// | `event_consumer_buffer_size` | 100 |
/// | `enabled` | true |
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
///     .exponential_backoff(2.0, Some(Duration::from_secs(2)))
///     .build()?;
/// assert_eq!(config.max_attempts(), 4);
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RetryConfig {
    max_attempts: u32,
    interval: Interval,
    retry_errors: Arc<[String]>,
    ignore_errors: Arc<[String]>,
    fail_after_max_attempts: bool,
    retry_after_max: Duration,
    event_buffer: usize,
    enabled: bool,
}

impl RetryConfig {
    /// Starts from the defaults.
    pub fn builder() -> RetryConfigBuilder {
        RetryConfigBuilder { draft: Draft::new(Pattern::Retry), interval: None }
    }

    /// Reads checked settings.
    // The same shape for every pattern; retry has no rule between two keys.
    #[allow(clippy::unnecessary_wraps)]
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, Vec<Problem>> {
        let initial = settings.duration("wait_duration");
        let mut interval = if settings.bool("enable_exponential_backoff") {
            let multiplier = settings.float("exponential_backoff_multiplier").unwrap_or(1.5);
            let grown = Interval::exponential(initial, multiplier);
            match settings.optional_duration("exponential_max_wait_duration") {
                Some(max) => grown.max(max),
                None => grown,
            }
        } else {
            Interval::fixed(initial)
        };
        if settings.bool("enable_randomized_wait") {
            interval = interval.jitter(settings.float("randomized_wait_factor").unwrap_or(0.5));
        }
        Ok(Self {
            max_attempts: settings.u32("max_attempts"),
            interval,
            retry_errors: settings.kinds("retry_errors").into(),
            ignore_errors: settings.kinds("ignore_errors").into(),
            fail_after_max_attempts: settings.bool("fail_after_max_attempts"),
            retry_after_max: settings.duration("retry_after_max"),
            event_buffer: settings.u32("event_consumer_buffer_size") as usize,
            enabled: settings.bool("enabled"),
        })
    }

    /// How many times the call is made at most, the first time included.
    pub fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// How long to wait between attempts.
    pub fn interval(&self) -> &Interval {
        &self.interval
    }

    /// The error kinds that are retried; empty is all but `call_not_permitted`.
    pub fn retry_errors(&self) -> &[String] {
        &self.retry_errors
    }

    /// The error kinds that end the retry.
    pub fn ignore_errors(&self) -> &[String] {
        &self.ignore_errors
    }

    /// Whether a result that still asks for a retry at the end becomes an error.
    pub fn fail_after_max_attempts(&self) -> bool {
        self.fail_after_max_attempts
    }

    /// The longest wait that `retry_after` or a refusal may ask for.
    pub fn retry_after_max(&self) -> Duration {
        self.retry_after_max
    }

    /// Whether the layer acts at all.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    pub(crate) fn event_buffer(&self) -> usize {
        self.event_buffer
    }
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self::from_settings(&Settings::defaults(Pattern::Retry))
            .expect("the built-in defaults do not contradict each other")
    }
}

/// Builds a [`RetryConfig`]; every problem comes out at [`build`](RetryConfigBuilder::build).
#[derive(Clone)]
pub struct RetryConfigBuilder {
    draft: Draft,
    interval: Option<Interval>,
}

impl RetryConfigBuilder {
    /// How many times the call is made at most, the first time included; at least 1.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.draft.set("max_attempts", Value::Integer(attempts.into()));
        self
    }

    /// How long to wait before the next attempt; 0 is allowed.
    #[must_use]
    pub fn wait_duration(mut self, wait: Duration) -> Self {
        self.draft.set("wait_duration", Value::Duration(wait));
        self
    }

    /// Lets the wait grow by `multiplier` with every attempt, to `max` at most.
    #[must_use]
    pub fn exponential_backoff(mut self, multiplier: f64, max: Option<Duration>) -> Self {
        self.draft.set("enable_exponential_backoff", Value::Bool(true));
        self.draft.set("exponential_backoff_multiplier", Value::Float(multiplier));
        if let Some(max) = max {
            self.draft.set("exponential_max_wait_duration", Value::Duration(max));
        }
        self
    }

    /// Spreads the wait by this fraction of it up and down; from 0 to below 1.
    #[must_use]
    pub fn randomized_wait(mut self, factor: f64) -> Self {
        self.draft.set("enable_randomized_wait", Value::Bool(true));
        self.draft.set("randomized_wait_factor", Value::Float(factor));
        self
    }

    /// Replaces wait, growth and spread by an interval of the caller's own.
    #[must_use]
    pub fn interval(mut self, interval: Interval) -> Self {
        self.interval = Some(interval);
        self
    }

    /// The error kinds that are retried; empty is all but `call_not_permitted`.
    #[must_use]
    pub fn retry_errors<K: Into<String>>(mut self, kinds: impl IntoIterator<Item = K>) -> Self {
        self.draft.set("retry_errors", Value::Kinds(kinds.into_iter().map(K::into).collect()));
        self
    }

    /// The error kinds that end the retry.
    #[must_use]
    pub fn ignore_errors<K: Into<String>>(mut self, kinds: impl IntoIterator<Item = K>) -> Self {
        self.draft.set("ignore_errors", Value::Kinds(kinds.into_iter().map(K::into).collect()));
        self
    }

    /// Whether a result that still asks for a retry at the end becomes an error.
    #[must_use]
    pub fn fail_after_max_attempts(mut self, fail: bool) -> Self {
        self.draft.set("fail_after_max_attempts", Value::Bool(fail));
        self
    }

    /// The longest wait that `retry_after` or a refusal may ask for.
    #[must_use]
    pub fn retry_after_max(mut self, max: Duration) -> Self {
        self.draft.set("retry_after_max", Value::Duration(max));
        self
    }

    /// Whether the layer acts at all.
    #[must_use]
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.draft.set("enabled", Value::Bool(enabled));
        self
    }

    /// Checks everything that was set.
    ///
    /// # Errors
    ///
    /// Every value that is out of its range, at once.
    pub fn build(self) -> Result<RetryConfig, ConfigError> {
        let mut config =
            RetryConfig::from_settings(&self.draft.finish()?).map_err(ConfigError::new)?;
        if let Some(interval) = self.interval {
            let problems = interval.problems();
            if !problems.is_empty() {
                return Err(ConfigError::new(problems));
            }
            config.interval = interval;
        }
        Ok(config)
    }
}

impl fmt::Debug for RetryConfigBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryConfigBuilder").finish_non_exhaustive()
    }
}
