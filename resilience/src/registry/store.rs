//! The store that the instances of a registry share with other processes.

#[cfg(feature = "redis")]
use super::Resilience;
use super::{
    Inner,
    check::{Until, Warning},
};
#[cfg(feature = "redis")]
use crate::store::StoreConfig;
use crate::{
    config::{Config, ConfigError, Origin, Problem, Settings, without_store},
    store::Store,
};

#[cfg(feature = "redis")]
impl Resilience {
    /// The store under `redis` in the configuration, which is opened when a configuration that has one
    /// is first in force, and stays as it is from then on.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience};
    ///
    /// let config = Config::builder()
    ///     .set("redis.url", "redis://127.0.0.1:1")
    ///     .set("redis.namespace", "shop")
    ///     .load()?;
    /// let registry = Resilience::from_config(config)?; // nobody has to be there yet
    /// assert_eq!(registry.store().map(|store| store.config().nodes()), Some(1));
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn store(&self) -> Option<Store> {
        self.inner.backing.store().cloned()
    }
}

impl Inner {
    /// The store of a checked configuration, where there is none so far.
    #[cfg(feature = "redis")]
    pub(super) fn open_store(&self, config: &Config) -> Result<Option<Store>, ConfigError> {
        match config.loaded().store() {
            Some(settings) if self.backing.store().is_none() => {
                Store::open(StoreConfig::from_settings(&settings)?).map(Some)
            }
            _ => Ok(None),
        }
    }

    #[cfg(not(feature = "redis"))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // the same signature as with the feature
    pub(super) fn open_store(&self, _: &Config) -> Result<Option<Store>, ConfigError> {
        Ok(None)
    }

    /// What to say of an instance that is made to share something, and has nothing to share it by.
    pub(super) fn without_store(&self, settings: &Settings, name: &str) -> Option<Warning> {
        (settings.is_global() && self.backing.store().is_none()).then(|| {
            let text = format!(
                "{} '{name}' has `scope: global`, and the registry has no store: it goes as if the \
                 store were away; declare one under `redis`",
                settings.pattern()
            );
            Warning::until("without_store", text, Until::StoreOpened)
        })
    }

    /// What another configuration says otherwise of the store that is open.
    pub(super) fn changed_store(&self, before: &Config, after: &Config) -> Vec<Problem> {
        let (Some(_), Some(open)) = (self.backing.store(), before.loaded().store()) else {
            return Vec::new();
        };
        let Some(wanted) = after.loaded().store() else {
            let message = "the section is gone, and the store of a running program stays; put it back, \
                           or restart the program";
            return vec![Problem::new(message).path("redis")];
        };
        let changed = open.differences(&wanted).map(|key| {
            let message = "cannot change while the program runs; write what was there before, or \
                           restart the program";
            let problem = Problem::new(message).path(format!("redis.{key}"));
            match wanted.place(key) {
                Some(place) => problem.place(place),
                None => problem,
            }
        });
        changed.collect()
    }
}

/// What keeps a configuration's store from being opened.
#[cfg(feature = "redis")]
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let settings = config.loaded().store();
    let checked = settings.map(|settings| StoreConfig::from_settings(&settings));
    match checked {
        Some(Err(error)) => error.problems().to_vec(),
        _ => Vec::new(),
    }
}

/// The instances that would need it.
#[cfg(not(feature = "redis"))]
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    config.loaded().check_instances(|settings| needs_feature(settings).into_iter().collect())
}

/// What is wrong with an attribute that wants something shared.
pub(super) fn of_attribute(config: &Config, settings: &Settings) -> Option<Problem> {
    // What the configuration says was checked when it was loaded.
    let by_attribute = matches!(settings.origin("scope"), Origin::Attribute(_));
    if !settings.is_global() || !by_attribute {
        return None;
    }
    if config.loaded().store().is_none() {
        return without_store(settings);
    }
    needs_feature(settings)
}

#[cfg(feature = "redis")]
fn needs_feature(_: &Settings) -> Option<Problem> {
    None
}

#[cfg(not(feature = "redis"))]
fn needs_feature(settings: &Settings) -> Option<Problem> {
    settings.is_global().then(|| {
        let message = "needs the feature `redis` of resilience; add it in Cargo.toml, or write \
                       `scope: local`";
        Problem::new(message).path("scope").value("global")
    })
}

#[cfg(all(test, not(feature = "redis"), feature = "config"))]
mod tests_without_the_feature {
    use crate::{Config, Resilience, config::Format};

    const GLOBAL: &str = "
redis: { url: redis://cache, namespace: shop }
ratelimiter.instances.orders:
  { limit_refresh_period: 1s, scope: global, on_store_failure: local }
";

    #[test]
    fn without_the_feature_a_global_limit_is_refused_and_names_it() {
        let config = Config::builder().env(false).text(GLOBAL, Format::Yaml).load().unwrap();
        let error = Resilience::from_config(config).unwrap_err();
        let expected = "<text>:4: ratelimiter.instances.orders.scope = global: needs the feature \
                        `redis` of resilience";
        assert!(error.to_string().starts_with(expected), "{error}");
    }

    #[test]
    fn without_the_feature_a_section_that_nobody_uses_does_no_harm() {
        let text = GLOBAL.replace("global", "local");
        let config = Config::builder().env(false).text(text, Format::Yaml).load().unwrap();
        assert!(Resilience::from_config(config).is_ok());
    }
}

#[cfg(all(test, feature = "redis", feature = "config"))]
mod tests;
