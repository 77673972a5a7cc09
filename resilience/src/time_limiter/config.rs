use std::time::Duration;

use resilience_settings::Value;

use crate::{
    config::{Problem, Settings, typed_config},
    keyed::KeySettings,
};

/// The checked settings of a [`TimeLimiter`](super::TimeLimiter).
///
/// | setting | default | range |
/// |---|---|---|
/// | `timeout_duration` | 1 s | above 0 |
/// | `cancel_running_future` | true | |
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
/// use resilience::TimeLimiterConfig;
///
/// let config = TimeLimiterConfig::builder().timeout_duration(Duration::from_secs(2)).build()?;
/// assert_eq!(config.timeout_duration(), Duration::from_secs(2));
/// assert!(TimeLimiterConfig::builder().timeout_duration(Duration::ZERO).build().is_err());
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeLimiterConfig {
    timeout_duration: Duration,
    cancel_running_future: bool,
    pub(crate) keyed: KeySettings,
    event_consumer_buffer_size: u32,
    enabled: bool,
}

impl TimeLimiterConfig {
    /// Starts from these settings.
    pub fn to_builder(&self) -> TimeLimiterConfigBuilder {
        Self::builder()
            .timeout_duration(self.timeout_duration)
            .cancel_running_future(self.cancel_running_future)
            .keyed(&self.keyed)
            .event_consumer_buffer_size(self.event_consumer_buffer_size)
            .enabled(self.enabled)
    }

    /// Fails for nothing at present: no two keys of a time limiter contradict each other.
    #[expect(clippy::unnecessary_wraps, reason = "every pattern's settings are read the same way")]
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            timeout_duration: settings.duration("timeout_duration"),
            cancel_running_future: settings.bool("cancel_running_future"),
            keyed: KeySettings::from_settings(settings),
            event_consumer_buffer_size: settings.u32("event_consumer_buffer_size"),
            enabled: settings.bool("enabled"),
        })
    }

    /// Returns how long a call may take, its wait for a bulkhead slot included.
    pub fn timeout_duration(&self) -> Duration {
        self.timeout_duration
    }

    /// Returns whether a call that timed out is cancelled; `false` needs `detach` at the function.
    pub fn cancel_running_future(&self) -> bool {
        self.cancel_running_future
    }
}

typed_config! {
    TimeLimiterConfig, TimeLimiterConfigBuilder, TimeLimiter, keyed;
    /// Sets how long a call may take, its wait for a bulkhead slot included; above 0, 1 s by default.
    timeout_duration(timeout: Duration) = Value::Duration(timeout);
    /// Sets whether a call that timed out is cancelled; true by default, `false` needs `detach` at the
    /// function.
    cancel_running_future(cancel: bool) = Value::Bool(cancel);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_survives_the_way_through_its_builder() {
        let config = TimeLimiterConfig::builder()
            .timeout_duration(Duration::from_millis(2))
            .cancel_running_future(false)
            .max_keys(8)
            .key_idle_timeout(Duration::from_secs(8))
            .metric_keys(["a", "b"])
            .event_consumer_buffer_size(9)
            .enabled(false)
            .build()
            .unwrap();
        assert_eq!(config.to_builder().build().unwrap(), config);
    }
}
