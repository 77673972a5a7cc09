use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use resilience_config::Loaded;
use resilience_settings::{Pattern, canonical};

use super::{call_site::annotated, instances::Managed, resolve};
use crate::config::{Config, ConfigError, Origin, Settings};

/// What a registry works by at present. It is replaced as a whole: whoever holds one can tell by its
/// address whether another has come since.
#[derive(Default)]
pub(super) struct InForce {
    loaded: Config,
    /// What was loaded, under the switches.
    pub(super) config: Arc<Config>,
    /// What was said at run time of whole patterns.
    switches: BTreeMap<Pattern, bool>,
    /// Names that an earlier configuration declared: instances keep the key that they had then.
    once_declared: HashSet<(Pattern, String)>,
}

impl InForce {
    /// The same under another configuration.
    pub(super) fn under(&self, loaded: Config) -> Self {
        let mut once_declared = self.once_declared.clone();
        for &pattern in Pattern::ALL {
            once_declared.extend(self.loaded.instances(pattern).map(|n| (pattern, canonical(n))));
        }
        Self::new(loaded, self.switches.clone(), once_declared)
    }

    /// Whether what was loaded is just this.
    #[cfg(feature = "watch")]
    pub(super) fn is_under(&self, config: &Config) -> bool {
        self.loaded.loaded().is_same(config.loaded())
    }

    /// The same with a pattern switched on or off, or as the configuration has it.
    pub(super) fn switched(&self, pattern: Pattern, on: Option<bool>) -> Self {
        let mut switches = self.switches.clone();
        match on {
            Some(on) => switches.insert(pattern, on),
            None => switches.remove(&pattern),
        };
        Self::new(self.loaded.clone(), switches, self.once_declared.clone())
    }

    /// Where what was loaded says the opposite of a switch: that has no effect.
    pub(super) fn overridden(&self, pattern: Pattern) -> Option<(bool, &Origin)> {
        let on = self.switches.get(&pattern)?;
        let (read, origin) = self.loaded.loaded().switch(pattern)?;
        (read != on).then_some((*read, origin))
    }

    fn new(
        loaded: Config,
        switches: BTreeMap<Pattern, bool>,
        once_declared: HashSet<(Pattern, String)>,
    ) -> Self {
        let under =
            |config: Loaded, (pattern, on): (&Pattern, &bool)| config.with_switch(*pattern, *on);
        let under_all = switches.iter().fold(loaded.loaded().clone(), under);
        let config = Arc::new(Config::of(under_all));
        Self { loaded, config, switches, once_declared }
    }

    /// Whether a name is declared, annotated or was declared before.
    pub(super) fn knows(&self, pattern: Pattern, name: &str) -> bool {
        self.config.declares(pattern, name)
            || annotated(pattern, name).is_some()
            || (!self.once_declared.is_empty()
                && self.once_declared.contains(&(pattern, canonical(name))))
    }

    /// What an instance is found by. A name that the configuration or an attribute knows is found in
    /// any spelling; another one, such as an address that a program looks up, only in its own, so
    /// that `10.1.1.12` and `10.1.11.2` stay apart.
    pub(super) fn key(&self, pattern: Pattern, name: &str) -> String {
        if self.knows(pattern, name) { canonical(name) } else { format!("={name}") }
    }

    /// The spelling of a name that people know: the configuration's, else an attribute's.
    pub(super) fn spelled<'a>(&'a self, pattern: Pattern, name: &'a str) -> &'a str {
        self.config
            .loaded()
            .declared_name(pattern, name)
            .or_else(|| Some(annotated(pattern, name)?.name))
            .unwrap_or(name)
    }

    /// The settings of an instance, checked.
    ///
    /// # Errors
    ///
    /// Only what an attribute says can be wrong: the rest was checked when it was loaded.
    pub(super) fn read<T: Managed>(&self, name: &str) -> Result<Settings, ConfigError> {
        let settings = resolve(&self.config, T::PATTERN, name)?;
        T::from_settings(&settings).map_err(ConfigError::new)?;
        Ok(settings)
    }

    /// As [`read`](Self::read); an instance of which something is wrong works on its defaults.
    pub(super) fn read_or_default<T: Managed>(&self, name: &str) -> Settings {
        self.read::<T>(name).unwrap_or_else(|_| Settings::defaults(T::PATTERN))
    }
}
