use std::time::Duration;

use crate::{
    config::{ConfigError, Problem},
    rate_limiter::OnStoreFailure,
};

/// The checked settings of a [`SingleFlight`](super::SingleFlight); only one with a store has use for
/// them.
///
/// | setting | default | range |
/// |---|---|---|
/// | `expires_after` | 60 s | 10 ms to a day |
/// | `on_store_failure` | `local` | `open`, `closed`, `local` |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::single_flight::SingleFlightConfig;
///
/// let config = SingleFlightConfig::builder().expires_after(Duration::from_secs(10)).build()?;
/// assert_eq!(config.expires_after(), Duration::from_secs(10));
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleFlightConfig {
    expires_after: Duration,
    on_store_failure: OnStoreFailure,
}

impl SingleFlightConfig {
    /// Starts from the defaults.
    pub fn builder() -> SingleFlightConfigBuilder {
        SingleFlightConfigBuilder(Self::default())
    }

    /// Returns for how long a key is taken at most: a process that crashes frees it after that time.
    pub fn expires_after(&self) -> Duration {
        self.expires_after
    }

    /// Returns what happens while the store does not decide.
    pub fn on_store_failure(&self) -> OnStoreFailure {
        self.on_store_failure
    }
}

impl Default for SingleFlightConfig {
    fn default() -> Self {
        Self { expires_after: Duration::from_mins(1), on_store_failure: OnStoreFailure::Local }
    }
}

/// Collects settings for a [`SingleFlightConfig`], which lists defaults and ranges.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct SingleFlightConfigBuilder(SingleFlightConfig);

impl SingleFlightConfigBuilder {
    /// Sets for how long a key is taken at most, 10 ms to a day; 60 s by default.
    ///
    /// It should be longer than a call can take, with its retries: after that time another process may
    /// start the same call.
    pub fn expires_after(mut self, time: Duration) -> Self {
        self.0.expires_after = time;
        self
    }

    /// Sets what happens while the store does not decide; [`OnStoreFailure::Local`] by default: calls
    /// of this process are told apart, those of others are not known. [`OnStoreFailure::Open`] is the
    /// same here, [`OnStoreFailure::Closed`] refuses.
    pub fn on_store_failure(mut self, policy: OnStoreFailure) -> Self {
        self.0.on_store_failure = policy;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// When the time is out of its range.
    pub fn build(self) -> Result<SingleFlightConfig, ConfigError> {
        let time = self.0.expires_after;
        if !(Duration::from_millis(10)..=Duration::from_hours(24)).contains(&time) {
            let problem = Problem::new("expected 10ms to 1d").path("expires_after");
            return Err(problem.value(format!("{time:?}")).into());
        }
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_out_of_range_is_refused() {
        for time in [Duration::ZERO, Duration::from_hours(25)] {
            let error = SingleFlightConfig::builder().expires_after(time).build().unwrap_err();
            assert!(error.to_string().contains("expected 10ms to 1d"), "{error}");
        }
    }
}
