//! What the typed configurations of all patterns have in common, written once.

use resilience_settings::Value;

/// Writes what every typed configuration has: `builder`, the two settings that all patterns share,
/// `Default`, and the builder with a setter for each further key and `build`.
///
/// The configuration itself writes its fields, `from_settings`, `to_builder` and a getter named like
/// each key. `with field: Type = method` is for a builder that takes more than keys: `build` hands the
/// field to that method.
///
/// `keyed` is for a pattern whose instances can be many under one name: the configuration has a field
/// `keyed` with the settings about them, whose getters and setters are written here.
macro_rules! typed_config {
    (
        $config:ident, $builder:ident, $pattern:ident, keyed
        $(, with $own:ident: $type_of_own:ty = $apply:ident)?;
        $($settings:tt)*
    ) => {
        $crate::config::typed_config! {
            $config, $builder, $pattern $(, with $own: $type_of_own = $apply)?;
            $($settings)*
            /// Sets how many keys have an instance of their own, 1 to 1,000,000; 10,000 by default.
            /// Further ones share one.
            max_keys(keys: u32) = resilience_settings::Value::Integer(keys.into());
            /// Sets how long a key is not used before its instance may go, from 1 ms; 10 min by
            /// default.
            key_idle_timeout(timeout: std::time::Duration) =
                resilience_settings::Value::Duration(timeout);
            /// Sets the keys that have metrics of their own, at most 100; none by default.
            metric_keys(keys: impl IntoIterator<Item = impl Into<String>>) =
                resilience_settings::Value::Texts(keys.into_iter().map(Into::into).collect());
        }

        impl $config {
            /// Returns how many keys have an instance of their own; further ones share one.
            pub fn max_keys(&self) -> u32 {
                self.keyed.max_keys
            }

            /// Returns how long a key is not used before its instance may go.
            pub fn key_idle_timeout(&self) -> std::time::Duration {
                self.keyed.key_idle_timeout
            }

            /// Returns the keys that have metrics of their own.
            pub fn metric_keys(&self) -> &[String] {
                &self.keyed.metric_keys
            }
        }

        impl $builder {
            pub(crate) fn keyed(self, settings: &$crate::keyed::KeySettings) -> Self {
                self.max_keys(settings.max_keys)
                    .key_idle_timeout(settings.key_idle_timeout)
                    .metric_keys(&*settings.metric_keys)
            }
        }
    };
    (
        $config:ident, $builder:ident, $pattern:ident
        $(, with $own:ident: $type_of_own:ty = $apply:ident)?;
        $($(#[$doc:meta])* $key:ident($value:ident: $type:ty) = $convert:expr;)*
    ) => {
        impl $config {
            /// Starts from the defaults.
            pub fn builder() -> $builder {
                $builder {
                    draft: $crate::config::Draft::new(resilience_settings::Pattern::$pattern),
                    $($own: None,)?
                }
            }

            /// Returns how many recent events the instance keeps.
            pub fn event_consumer_buffer_size(&self) -> usize {
                self.event_consumer_buffer_size as usize
            }

            /// Returns whether the instance acts; a disabled one lets every call through.
            pub fn is_enabled(&self) -> bool {
                self.enabled
            }

            /// The same settings, acting or not.
            pub(crate) fn with_enabled(&self, enabled: bool) -> Self {
                Self { enabled, ..self.clone() }
            }
        }

        impl Default for $config {
            fn default() -> Self {
                Self::builder().build().expect("the table of keys has defaults that fit together")
            }
        }

        #[doc = concat!(
            "Collects settings for a [`", stringify!($config), "`], which lists defaults and ranges."
        )]
        #[derive(Debug, Clone)]
        #[must_use = "a builder does nothing until `build`"]
        pub struct $builder {
            draft: $crate::config::Draft,
            $($own: Option<$type_of_own>,)?
        }

        impl $builder {
            $(
                $(#[$doc])*
                pub fn $key(mut self, $value: $type) -> Self {
                    self.draft.set(stringify!($key), $convert);
                    self
                }
            )*

            /// Sets how many recent events the instance keeps: 1 to 100,000; 100 by default.
            pub fn event_consumer_buffer_size(mut self, events: u32) -> Self {
                let events = resilience_settings::Value::Integer(events.into());
                self.draft.set("event_consumer_buffer_size", events);
                self
            }

            /// Sets whether the instance acts; it does by default.
            pub fn enabled(mut self, on: bool) -> Self {
                self.draft.set("enabled", resilience_settings::Value::Bool(on));
                self
            }

            /// Checks the settings.
            ///
            /// # Errors
            ///
            /// Every value that is out of its range, or else all values that contradict each other.
            pub fn build(self) -> Result<$config, $crate::config::ConfigError> {
                let config = $config::from_settings(&self.draft.finish()?);
                $(let config = config.and_then(|config| config.$apply(self.$own));)?
                config.map_err($crate::config::ConfigError::new)
            }

            /// The keys that there is a setter for.
            #[cfg(test)]
            pub(crate) const KEYS: &[&str] =
                &[$(stringify!($key),)* "event_consumer_buffer_size", "enabled"];
        }

        // What can be set can be read: every key has a getter of its name.
        const _: () = {
            $(let _ = $config::$key;)*
        };
    };
}

pub(crate) use typed_config;

/// A list of error kinds, as setters take it.
pub(crate) fn kind_list(kinds: impl IntoIterator<Item = impl Into<String>>) -> Value {
    Value::Kinds(kinds.into_iter().map(Into::into).collect())
}

#[cfg(test)]
mod tests {
    use resilience_settings::Pattern;

    use crate::{
        bulkhead::BulkheadConfigBuilder, circuit_breaker::CircuitBreakerConfigBuilder,
        rate_limiter::RateLimiterConfigBuilder, retry::RetryConfigBuilder,
        thread_pool_bulkhead::ThreadPoolBulkheadConfigBuilder,
        time_limiter::TimeLimiterConfigBuilder,
    };

    #[test]
    fn every_key_of_every_pattern_can_be_set_in_code() {
        for (pattern, setters) in [
            (Pattern::CircuitBreaker, CircuitBreakerConfigBuilder::KEYS),
            (Pattern::Retry, RetryConfigBuilder::KEYS),
            (Pattern::RateLimiter, RateLimiterConfigBuilder::KEYS),
            (Pattern::TimeLimiter, TimeLimiterConfigBuilder::KEYS),
            (Pattern::Bulkhead, BulkheadConfigBuilder::KEYS),
            (Pattern::ThreadPoolBulkhead, ThreadPoolBulkheadConfigBuilder::KEYS),
        ] {
            let keys: Vec<_> = pattern.keys().iter().map(|key| key.name).collect();
            assert_eq!(setters, keys, "{pattern:?}");
        }
    }
}
