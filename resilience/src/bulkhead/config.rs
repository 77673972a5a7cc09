use std::time::Duration;

use resilience_settings::{Pattern, Value};

use crate::config::{ConfigError, Draft, Problem, Settings};

/// The checked settings of a bulkhead.
///
/// | setting | default | range |
/// |---|---|---|
/// | `max_concurrent_calls` | 25 | 0 to 4,294,967,295; 0 refuses every call |
/// | `max_wait_duration` | 0 | any duration; 0 never waits |
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
    event_consumer_buffer_size: u32,
    enabled: bool,
}

impl BulkheadConfig {
    /// Starts from the defaults.
    pub fn builder() -> BulkheadConfigBuilder {
        BulkheadConfigBuilder { draft: Draft::new(Pattern::Bulkhead) }
    }

    /// Starts from these settings.
    pub fn to_builder(&self) -> BulkheadConfigBuilder {
        Self::builder()
            .max_concurrent_calls(self.max_concurrent_calls)
            .max_wait_duration(self.max_wait_duration)
            .event_consumer_buffer_size(self.event_consumer_buffer_size)
            .enabled(self.enabled)
    }

    /// Fails for nothing at present: no two keys of a bulkhead contradict each other.
    #[expect(clippy::unnecessary_wraps, reason = "every pattern's settings are read the same way")]
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            max_concurrent_calls: settings.u32("max_concurrent_calls"),
            max_wait_duration: settings.duration("max_wait_duration"),
            event_consumer_buffer_size: settings.u32("event_consumer_buffer_size"),
            enabled: settings.bool("enabled"),
        })
    }

    /// Every number is in range, so this cannot fail.
    pub(super) fn with_max_concurrent_calls(&self, max_concurrent_calls: u32) -> Self {
        Self { max_concurrent_calls, ..self.clone() }
    }

    /// How many calls run at once; 0 refuses every call.
    pub fn max_concurrent_calls(&self) -> u32 {
        self.max_concurrent_calls
    }

    /// How long a call may wait for a slot.
    pub fn max_wait_duration(&self) -> Duration {
        self.max_wait_duration
    }

    /// How many recent events the bulkhead keeps.
    pub fn event_consumer_buffer_size(&self) -> usize {
        self.event_consumer_buffer_size as usize
    }

    /// Whether the bulkhead acts; a disabled one lets every call through, those that wait
    /// included.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }
}

impl Default for BulkheadConfig {
    fn default() -> Self {
        Self::builder().build().expect("the table of settings has valid defaults")
    }
}

/// Collects the settings of a bulkhead.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct BulkheadConfigBuilder {
    draft: Draft,
}

impl BulkheadConfigBuilder {
    /// How many calls run at once; 25 by default, 0 refuses every call.
    pub fn max_concurrent_calls(self, calls: u32) -> Self {
        self.set("max_concurrent_calls", Value::Integer(calls.into()))
    }

    /// How long a call may wait for a slot; 0, the default, never waits.
    pub fn max_wait_duration(self, wait: Duration) -> Self {
        self.set("max_wait_duration", Value::Duration(wait))
    }

    /// How many recent events the bulkhead keeps, at least 1; 100 by default.
    pub fn event_consumer_buffer_size(self, events: u32) -> Self {
        self.set("event_consumer_buffer_size", Value::Integer(events.into()))
    }

    /// Whether the bulkhead acts; true by default.
    pub fn enabled(self, enabled: bool) -> Self {
        self.set("enabled", Value::Bool(enabled))
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// Every setting that is out of its range.
    pub fn build(self) -> Result<BulkheadConfig, ConfigError> {
        BulkheadConfig::from_settings(&self.draft.finish()?).map_err(ConfigError::new)
    }

    fn set(mut self, key: &str, value: Value) -> Self {
        self.draft.set(key, value);
        self
    }
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
