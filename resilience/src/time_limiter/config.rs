use std::time::Duration;

use resilience_settings::{Pattern, Value};

use crate::config::{ConfigError, Draft, Problem, Settings};

/// The checked settings of a [`TimeLimiter`](super::TimeLimiter).
///
/// | setting | default |
/// | --- | --- |
/// | `timeout_duration` | 1 s |
/// | `cancel_running_future` | true |
/// | `event_consumer_buffer_size` | 100 |
/// | `enabled` | true |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::TimeLimiterConfig;
///
/// let config = TimeLimiterConfig::builder().timeout_duration(Duration::from_secs(2)).build()?;
/// assert_eq!(config.timeout_duration(), Duration::from_secs(2));
/// assert!(TimeLimiterConfig::builder().timeout_duration(Duration::ZERO).build().is_err());
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TimeLimiterConfig {
    timeout: Duration,
    cancel_running_future: bool,
    event_buffer: usize,
    enabled: bool,
}

impl TimeLimiterConfig {
    /// Starts from the defaults.
    pub fn builder() -> TimeLimiterConfigBuilder {
        TimeLimiterConfigBuilder { draft: Draft::new(Pattern::TimeLimiter) }
    }

    /// Reads checked settings.
    // The same shape for every pattern; the time limiter has no rule between two keys.
    #[allow(clippy::unnecessary_wraps)]
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            timeout: settings.duration("timeout_duration"),
            cancel_running_future: settings.bool("cancel_running_future"),
            event_buffer: settings.u32("event_consumer_buffer_size") as usize,
            enabled: settings.bool("enabled"),
        })
    }

    /// How long a call may take, its wait for a bulkhead slot included.
    pub fn timeout_duration(&self) -> Duration {
        self.timeout
    }

    /// Whether a call that timed out is cancelled; `false` needs `detach` at the function.
    pub fn cancel_running_future(&self) -> bool {
        self.cancel_running_future
    }

    /// Whether the layer acts at all.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    pub(crate) fn event_buffer(&self) -> usize {
        self.event_buffer
    }
}

impl Default for TimeLimiterConfig {
    fn default() -> Self {
        Self::from_settings(&Settings::defaults(Pattern::TimeLimiter))
            .expect("the built-in defaults do not contradict each other")
    }
}

/// Builds a [`TimeLimiterConfig`]; every problem comes out at
/// [`build`](TimeLimiterConfigBuilder::build).
#[derive(Debug, Clone)]
pub struct TimeLimiterConfigBuilder {
    draft: Draft,
}

impl TimeLimiterConfigBuilder {
    /// How long a call may take, its wait for a bulkhead slot included; above 0.
    #[must_use]
    pub fn timeout_duration(mut self, timeout: Duration) -> Self {
        self.draft.set("timeout_duration", Value::Duration(timeout));
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
    pub fn build(self) -> Result<TimeLimiterConfig, ConfigError> {
        TimeLimiterConfig::from_settings(&self.draft.finish()?).map_err(ConfigError::new)
    }
}
