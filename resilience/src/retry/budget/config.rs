use resilience_settings::{Pattern, Value};

use crate::config::{ConfigError, Group, Origin, Problem};

/// The checked settings of a [`RetryBudget`](super::RetryBudget).
///
/// | setting | default | range |
/// |---|---|---|
/// | `ratio` | 0.2 retries per call | 0 to 10, in steps of a billionth |
/// | `min_per_second` | 10 retries a second beside those | 0 to 1,000,000 |
///
/// # Examples
///
/// ```
/// use resilience::retry::RetryBudgetConfig;
///
/// let config = RetryBudgetConfig::builder().ratio(0.1).min_per_second(2).build()?;
/// assert_eq!(config.ratio(), 0.1);
/// let error = RetryBudgetConfig::builder().ratio(20.0).build().unwrap_err();
/// assert_eq!(error.to_string(), "ratio = 20: expected a number of at least 0 and up to 10");
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RetryBudgetConfig {
    ratio: f64,
    min_per_second: u32,
}

/// Collects settings for a [`RetryBudgetConfig`], which lists defaults and ranges.
#[derive(Debug, Clone, Default)]
#[must_use = "a builder does nothing until `build`"]
pub struct RetryBudgetConfigBuilder {
    values: Vec<(&'static str, Value)>,
}

impl RetryBudgetConfig {
    /// Starts from the defaults.
    pub fn builder() -> RetryBudgetConfigBuilder {
        RetryBudgetConfigBuilder::default()
    }

    /// Returns how many retries there may be for each call of the last ten seconds.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Returns how many retries a second there may be beside those, however few calls there are.
    pub fn min_per_second(&self) -> u32 {
        self.min_per_second
    }

    /// From what a configuration has for a budget, which was checked when it was loaded.
    pub(crate) fn from_values<'v>(
        values: impl IntoIterator<Item = (&'static str, &'v Value)>,
    ) -> Self {
        let mut config = Self { ratio: 0.0, min_per_second: 0 };
        for (key, value) in values {
            match (key, value) {
                ("ratio", Value::Float(ratio)) => config.ratio = *ratio,
                ("min_per_second", Value::Integer(n)) => {
                    config.min_per_second = u32::try_from(*n).unwrap_or(u32::MAX);
                }
                other => panic!("a budget has no {other:?}"),
            }
        }
        config
    }
}

impl Default for RetryBudgetConfig {
    fn default() -> Self {
        Self::builder().build().expect("the table of keys has defaults that fit together")
    }
}

impl RetryBudgetConfigBuilder {
    /// Sets how many retries there may be for each call of the last ten seconds: 0 to 10; 0.2 by
    /// default.
    pub fn ratio(mut self, ratio: f64) -> Self {
        self.values.push(("ratio", Value::Float(ratio)));
        self
    }

    /// Sets how many retries a second there may be beside those, however few calls there are: 0 to
    /// 1,000,000; 10 by default.
    pub fn min_per_second(mut self, retries: u32) -> Self {
        self.values.push(("min_per_second", Value::Integer(retries.into())));
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// Every value that is out of its range.
    pub fn build(self) -> Result<RetryBudgetConfig, ConfigError> {
        let mut problems = Vec::new();
        let mut values = Vec::new();
        for key in Group::Budgets.keys(Pattern::Retry) {
            let set = self.values.iter().rfind(|(name, _)| *name == key.name);
            let value = set.map(|(_, value)| value.clone()).or_else(|| key.default_value());
            let Some(value) = value else { continue };
            let shown = value.to_string();
            match key.ty.check(value) {
                Ok(value) => values.push((key.name, value)),
                Err(error) => {
                    let problem = Problem::new(error.to_string()).path(key.name);
                    problems.push(problem.value(shown));
                }
            }
        }
        if problems.is_empty() {
            Ok(RetryBudgetConfig::from_values(values.iter().map(|(key, value)| (*key, value))))
        } else {
            Err(ConfigError::new(problems))
        }
    }
}

impl crate::Config {
    /// The settings of a budget: what is declared, else the defaults.
    pub(crate) fn budget_settings(&self, name: &str) -> RetryBudgetConfig {
        let values: Vec<(_, Value, Origin)> = self.loaded().budget_values(name);
        RetryBudgetConfig::from_values(values.iter().map(|(key, value, _)| (key.name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked_all_at_once() {
        let error = RetryBudgetConfig::builder()
            .ratio(f64::NAN)
            .min_per_second(1_000_001)
            .build()
            .unwrap_err();
        assert_eq!(error.problems().len(), 2);
    }

    #[test]
    fn the_last_value_of_a_setting_counts() {
        let config = RetryBudgetConfig::builder().ratio(11.0).ratio(10.0).build().unwrap();
        assert_eq!((config.ratio(), config.min_per_second()), (10.0, 10));
    }
}
