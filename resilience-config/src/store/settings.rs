use std::{sync::Arc, time::Duration};

use resilience_settings::{Key, Value, schema};

use crate::{Loaded, Origin, address::STORE};

/// The settings of the store: a value, with its origin, for each key that has one.
///
/// Only what was read without a complaint has come this far: there are addresses and a namespace.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreSettings {
    values: Vec<Option<Arc<(Value, Origin)>>>,
}

impl Loaded {
    /// The settings under `redis`, if there is such a section.
    pub fn store(&self) -> Option<StoreSettings> {
        let section = self.tree().store.as_ref()?;
        let default = |key: &Key| match key.name {
            "namespace" => self.application().map(|name| Value::Word(name.to_owned())),
            _ => key.default_value(),
        };
        let values = schema::REDIS.iter().enumerate().map(|(slot, key)| {
            let written = section.values.get(&slot).cloned();
            written.or_else(|| Some(Arc::new((default(key)?, Origin::Default))))
        });
        Some(StoreSettings { values: values.collect() })
    }

    /// The same with full key paths, for [`effective`](Loaded::effective).
    pub fn effective_store(&self) -> Vec<(String, Value, Origin)> {
        let Some(settings) = self.store() else { return Vec::new() };
        let values = settings.iter();
        values.map(|(path, value, origin)| (path, value.clone(), origin.clone())).collect()
    }
}

impl StoreSettings {
    /// Every key that has a value, as a path, with the value and where it came from.
    pub fn iter(&self) -> impl Iterator<Item = (String, &Value, &Origin)> {
        let keys = schema::REDIS.iter().zip(&self.values);
        keys.filter_map(|(key, set)| {
            let (value, origin) = set.as_deref()?;
            Some((format!("{STORE}.{}", key.name), value, origin))
        })
    }

    /// Where a key's value was written, if anywhere.
    pub fn place(&self, name: &str) -> Option<String> {
        self.set(name)?.1.place()
    }

    /// The paths of the keys whose values differ.
    pub fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'static str> + 'a {
        let value = |set: &'a Option<Arc<(Value, Origin)>>| set.as_deref().map(|(value, _)| value);
        let slots = self.values.iter().zip(&other.values);
        let keys = schema::REDIS.iter().zip(slots);
        keys.filter(move |(_, (a, b))| value(a) != value(b)).map(|(key, _)| key.name)
    }

    /// The addresses, with the passwords that may be in them.
    pub fn urls(&self) -> &[String] {
        match self.get("urls") {
            Some(Value::Addresses(addresses)) => addresses.exposed(),
            _ => &[],
        }
    }

    /// What all keys begin with.
    pub fn namespace(&self) -> &str {
        match self.get("namespace") {
            Some(Value::Word(namespace)) => namespace,
            _ => "",
        }
    }

    /// Whether the addresses are said to be those of a cluster, where that is said.
    pub fn cluster(&self) -> Option<bool> {
        match self.get("cluster") {
            Some(Value::Bool(on)) => Some(*on),
            _ => None,
        }
    }

    /// How long one decision may take.
    pub fn decision_timeout(&self) -> Duration {
        self.duration("decision_timeout")
    }

    /// How long an attempt to connect may take.
    pub fn connect_timeout(&self) -> Duration {
        self.duration("connect_timeout")
    }

    /// How many processes share the limits.
    pub fn nodes(&self) -> u32 {
        match self.get("nodes") {
            Some(Value::Integer(n)) => u32::try_from(*n).unwrap_or(u32::MAX),
            _ => 1,
        }
    }

    fn duration(&self, name: &str) -> Duration {
        match self.get(name) {
            Some(Value::Duration(duration)) => *duration,
            _ => Duration::ZERO,
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.set(name).map(|(value, _)| value)
    }

    fn set(&self, name: &str) -> Option<&(Value, Origin)> {
        let slot = schema::REDIS.iter().position(|key| key.name == name)?;
        self.values[slot].as_deref()
    }
}
