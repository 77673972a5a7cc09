use std::time::Duration;

use resilience_settings::Value;

use crate::{
    config::{Problem, Settings, typed_config},
    keyed::KeySettings,
};

/// The checked settings of a [`Bulkhead`](super::Bulkhead).
///
/// | setting | default | range |
/// |---|---|---|
/// | `max_concurrent_calls` | 25 | 0 to 4,294,967,295; 0 refuses every call |
/// | `max_wait_duration` | 0 | any duration; 0 never waits |
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
/// use resilience::BulkheadConfig;
///
/// let config = BulkheadConfig::builder()
///     .max_concurrent_calls(10)
///     .max_wait_duration(Duration::from_millis(50))
///     .build()?;
/// assert_eq!(config.max_concurrent_calls(), 10);
/// # Ok::<(), resilience::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkheadConfig {
    max_concurrent_calls: u32,
    max_wait_duration: Duration,
    pub(crate) keyed: KeySettings,
    event_consumer_buffer_size: u32,
    enabled: bool,
}

impl BulkheadConfig {
    /// Starts from these settings.
    pub fn to_builder(&self) -> BulkheadConfigBuilder {
        Self::builder()
            .max_concurrent_calls(self.max_concurrent_calls)
            .max_wait_duration(self.max_wait_duration)
            .keyed(&self.keyed)
            .event_consumer_buffer_size(self.event_consumer_buffer_size)
            .enabled(self.enabled)
    }

    /// Fails for nothing at present: no two keys of a bulkhead contradict each other.
    #[expect(clippy::unnecessary_wraps, reason = "every pattern's settings are read the same way")]
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            max_concurrent_calls: settings.u32("max_concurrent_calls"),
            max_wait_duration: settings.duration("max_wait_duration"),
            keyed: KeySettings::from_settings(settings),
            event_consumer_buffer_size: settings.u32("event_consumer_buffer_size"),
            enabled: settings.bool("enabled"),
        })
    }

    /// Every number is in range, so this cannot fail.
    pub(super) fn with_max_concurrent_calls(&self, max_concurrent_calls: u32) -> Self {
        Self { max_concurrent_calls, ..self.clone() }
    }

    /// Returns how many calls run at once; 0 refuses every call.
    pub fn max_concurrent_calls(&self) -> u32 {
        self.max_concurrent_calls
    }

    /// Returns how long a call may wait for a slot.
    pub fn max_wait_duration(&self) -> Duration {
        self.max_wait_duration
    }
}

typed_config! {
    BulkheadConfig, BulkheadConfigBuilder, Bulkhead, keyed;
    /// Sets how many calls run at once; 25 by default, 0 refuses every call.
    max_concurrent_calls(calls: u32) = Value::Integer(calls.into());
    /// Sets how long a call may wait for a slot; 0, the default, never waits.
    max_wait_duration(wait: Duration) = Value::Duration(wait);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_resilience4js() {
        let config = BulkheadConfig::default();
        assert_eq!(config.max_concurrent_calls(), 25);
        assert_eq!(config.max_wait_duration(), Duration::ZERO);
        assert!(config.is_enabled());
    }

    #[test]
    fn a_configuration_survives_the_way_through_its_builder() {
        let config = BulkheadConfig::builder()
            .max_concurrent_calls(0)
            .max_wait_duration(Duration::from_millis(2))
            .max_keys(8)
            .key_idle_timeout(Duration::from_secs(8))
            .metric_keys(["a", "b"])
            .event_consumer_buffer_size(9)
            .enabled(false)
            .build()
            .unwrap();
        assert_eq!(config.to_builder().build().unwrap(), config);
    }

    #[test]
    fn an_empty_event_buffer_is_refused() {
        let error = BulkheadConfig::builder().event_consumer_buffer_size(0).build().unwrap_err();
        assert_eq!(error.problems()[0].path.as_deref(), Some("event_consumer_buffer_size"));
    }
}
