use std::time::Duration;

use resilience_settings::Value;

use crate::config::{Origin, Problem, Settings, contradictions, typed_config};

/// The checked settings of a [`ThreadPoolBulkhead`](super::ThreadPoolBulkhead).
///
/// | setting | default | range |
/// |---|---|---|
/// | `core_thread_pool_size` | processors less 1, at least 1 | 1 to 4,096 |
/// | `max_thread_pool_size` | processors | 1 to 4,096, at least the core size |
/// | `queue_capacity` | 100 | 0 to 1,000,000; 0 hands over directly or refuses |
/// | `keep_alive_duration` | 20 ms | any duration |
/// | `event_consumer_buffer_size` | 100 | 1 to 100,000 |
/// | `enabled` | true | |
///
/// A size that is not set follows the one that is: whether a configuration is valid must not depend
/// on the number of processors of the machine that reads it.
///
/// # Examples
///
/// ```
/// use resilience::ThreadPoolBulkheadConfig;
///
/// let config = ThreadPoolBulkheadConfig::builder()
///     .core_thread_pool_size(2)
///     .max_thread_pool_size(4)
///     .queue_capacity(20)
///     .build()?;
/// assert_eq!(config.max_thread_pool_size(), 4);
/// # Ok::<(), resilience::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadPoolBulkheadConfig {
    core_thread_pool_size: u32,
    max_thread_pool_size: u32,
    queue_capacity: u32,
    keep_alive_duration: Duration,
    event_consumer_buffer_size: u32,
    enabled: bool,
}

impl ThreadPoolBulkheadConfig {
    /// Starts from these settings.
    pub fn to_builder(&self) -> ThreadPoolBulkheadConfigBuilder {
        Self::builder()
            .core_thread_pool_size(self.core_thread_pool_size)
            .max_thread_pool_size(self.max_thread_pool_size)
            .queue_capacity(self.queue_capacity)
            .keep_alive_duration(self.keep_alive_duration)
            .event_consumer_buffer_size(self.event_consumer_buffer_size)
            .enabled(self.enabled)
    }

    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, Vec<Problem>> {
        let problems = contradictions(settings);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut core = settings.u32("core_thread_pool_size");
        let mut max = settings.u32("max_thread_pool_size");
        if core > max {
            if settings.origin("max_thread_pool_size") == Origin::Default {
                max = core;
            } else {
                core = max;
            }
        }
        Ok(Self {
            core_thread_pool_size: core,
            max_thread_pool_size: max,
            queue_capacity: settings.u32("queue_capacity"),
            keep_alive_duration: settings.duration("keep_alive_duration"),
            event_consumer_buffer_size: settings.u32("event_consumer_buffer_size"),
            enabled: settings.bool("enabled"),
        })
    }

    /// Returns how many threads are started before calls queue.
    pub fn core_thread_pool_size(&self) -> u32 {
        self.core_thread_pool_size
    }

    /// Returns how many threads run at most once the queue is full.
    pub fn max_thread_pool_size(&self) -> u32 {
        self.max_thread_pool_size
    }

    /// Returns how many calls wait for a thread.
    pub fn queue_capacity(&self) -> u32 {
        self.queue_capacity
    }

    /// Returns how long a thread above the core size stays idle before it ends.
    pub fn keep_alive_duration(&self) -> Duration {
        self.keep_alive_duration
    }
}

typed_config! {
    ThreadPoolBulkheadConfig, ThreadPoolBulkheadConfigBuilder, ThreadPoolBulkhead;
    /// Sets how many threads are started before calls queue, 1 to 4,096; by default one less than
    /// there are processors, at least 1.
    core_thread_pool_size(threads: u32) = Value::Integer(threads.into());
    /// Sets how many threads run at most once the queue is full, at least the core size and at most
    /// 4,096; by default as many as there are processors.
    max_thread_pool_size(threads: u32) = Value::Integer(threads.into());
    /// Sets how many calls wait for a thread, up to 1,000,000; 100 by default, 0 hands over directly.
    queue_capacity(calls: u32) = Value::Integer(calls.into());
    /// Sets how long a thread above the core size stays idle before it ends; 20 ms by default.
    keep_alive_duration(keep_alive: Duration) = Value::Duration(keep_alive);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_resilience4js() {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let config = ThreadPoolBulkheadConfig::default();
        assert_eq!(config.max_thread_pool_size() as usize, processors);
        assert_eq!(config.core_thread_pool_size() as usize, (processors - 1).max(1));
        assert_eq!(config.queue_capacity(), 100);
        assert_eq!(config.keep_alive_duration(), Duration::from_millis(20));
    }

    #[test]
    fn a_maximum_below_the_core_size_is_refused() {
        let builder = ThreadPoolBulkheadConfig::builder().core_thread_pool_size(3);
        let error = builder.max_thread_pool_size(2).build().unwrap_err();
        assert_eq!(
            error.to_string(),
            "max_thread_pool_size = 2: expected at least core_thread_pool_size, which is 3"
        );
    }

    #[test]
    fn a_size_that_is_not_set_follows_the_other() {
        let large = ThreadPoolBulkheadConfig::builder().core_thread_pool_size(4_096);
        assert_eq!(large.build().unwrap().max_thread_pool_size(), 4_096);
        let small = ThreadPoolBulkheadConfig::builder().max_thread_pool_size(1);
        assert_eq!(small.build().unwrap().core_thread_pool_size(), 1);
    }

    #[test]
    fn a_configuration_survives_the_way_through_its_builder() {
        let config = ThreadPoolBulkheadConfig::builder()
            .core_thread_pool_size(3)
            .max_thread_pool_size(5)
            .queue_capacity(0)
            .keep_alive_duration(Duration::ZERO)
            .event_consumer_buffer_size(9)
            .enabled(false)
            .build()
            .unwrap();
        assert_eq!(config.to_builder().build().unwrap(), config);
    }
}
