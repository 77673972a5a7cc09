use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock},
    time::Duration,
};

use resilience_settings::{Pattern, Value};

use crate::{ConfigError, Problem, hint::did_you_mean};

/// Where the value of a setting came from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// An argument of an attribute, at this `file:line`.
    Attribute(String),
    /// A configuration file: its name, the line where the parser knows it, and the entry there.
    File {
        /// The file as it was named to the loader.
        file: String,
        /// The line, counted from 1.
        line: Option<usize>,
        /// The entry that holds the value, such as `circuitbreaker.configs.default`.
        entry: String,
    },
    /// An environment variable of this name.
    Environment(String),
    /// A call in the program: a builder's method or the loader's `set`.
    Code,
}

impl Origin {
    /// Where a value of this origin can be changed, `None` for a built-in default.
    #[doc(hidden)]
    pub fn place(&self) -> Option<String> {
        match self {
            Origin::Default => None,
            Origin::File { file, line: Some(line), .. } => Some(format!("{file}:{line}")),
            Origin::File { file, line: None, .. } => Some(file.clone()),
            Origin::Attribute(_) | Origin::Environment(_) | Origin::Code => Some(self.to_string()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Attribute(place) => write!(f, "attribute at {place}"),
            Origin::File { file, line: Some(line), entry } => write!(f, "{file}:{line} ({entry})"),
            Origin::File { file, line: None, entry } => write!(f, "{file} ({entry})"),
            Origin::Environment(variable) => write!(f, "environment {variable}"),
            Origin::Code => f.write_str("code"),
        }
    }
}

/// A value and its origin, where one is set.
type Set<'a> = Option<&'a (Value, Origin)>;

/// The settings of one instance: a checked value, with its origin, for each key that has one.
///
/// Typed configurations are made from it, whatever wrote the values: a file, an attribute, the
/// environment or a builder.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pattern: Pattern,
    values: Vec<Option<Arc<(Value, Origin)>>>,
}

impl Settings {
    /// The built-in defaults of a pattern.
    pub fn defaults(pattern: Pattern) -> Self {
        // Every instance starts from them; reading the tables costs more than all the rest.
        static OF_PATTERNS: LazyLock<HashMap<Pattern, Settings>> = LazyLock::new(|| {
            Pattern::ALL.iter().map(|pattern| (*pattern, Settings::built_in(*pattern))).collect()
        });
        OF_PATTERNS[&pattern].clone()
    }

    fn built_in(pattern: Pattern) -> Self {
        let values = pattern
            .keys()
            .iter()
            .map(|key| key.default_value().map(|value| Arc::new((value, Origin::Default))))
            .collect();
        Self { pattern, values }
    }

    /// The pattern whose settings these are.
    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// Every key that has a value, with the value and where it came from.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value, &Origin)> {
        self.pattern.keys().iter().zip(&self.values).filter_map(|(key, slot)| {
            slot.as_deref().map(|(value, origin)| (key.name, value, origin))
        })
    }

    /// The same with full key paths, for settings that belong to the entry `path`.
    pub fn under(&self, path: &str) -> impl Iterator<Item = (String, Value, Origin)> {
        self.iter().map(move |(key, value, origin)| {
            (format!("{path}.{key}"), value.clone(), origin.clone())
        })
    }

    /// Sets a key after checking type and range.
    ///
    /// # Errors
    ///
    /// Names the key, the value and what would be allowed.
    pub fn set(&mut self, name: &str, value: Value, origin: Origin) -> Result<(), Problem> {
        let (index, key) = self.pattern.key(name).ok_or_else(|| {
            let hint = did_you_mean(name, self.pattern.keys().iter().map(|key| key.name));
            Problem::new(format!("unknown key{}", hint.unwrap_or_default())).path(name)
        })?;
        let shown = value.to_string();
        let value = key
            .ty
            .check(value)
            .map_err(|error| Problem::new(error.to_string()).path(key.name).value(shown))?;
        self.values[index] = Some(Arc::new((value, origin)));
        Ok(())
    }

    /// Takes the value that an instance works by, where it is another one: it was given it in code.
    pub fn take_in_force(&mut self, name: &'static str, value: Value) {
        if self.get(name) != Some(&value)
            && let Some(slot) = self.slot(name)
        {
            self.values[slot] = Some(Arc::new((value, Origin::Code)));
        }
    }

    /// Puts a value that was checked already at the position of its key.
    pub(crate) fn put(&mut self, slot: usize, value: Arc<(Value, Origin)>) {
        self.values[slot] = Some(value);
    }

    /// The value of a key, `None` when it is unset.
    ///
    /// # Panics
    ///
    /// When the pattern has no such key: a slip in the calling `config.rs`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let slot = self.slot(name).unwrap_or_else(|| panic!("no key {name}"));
        self.values[slot].as_deref().map(|(value, _)| value)
    }

    /// Where the value of a key came from, [`Origin::Default`] when it is unset.
    pub fn origin(&self, name: &str) -> Origin {
        self.slot(name)
            .and_then(|slot| self.values[slot].as_deref())
            .map_or(Origin::Default, |(_, origin)| origin.clone())
    }

    /// The position of a key in its standard spelling, which is the one that code uses.
    fn slot(&self, name: &str) -> Option<usize> {
        self.pattern.keys().iter().position(|key| key.name == name)
    }

    /// The keys whose values differ, with both values.
    pub(crate) fn differences<'a>(
        &'a self,
        other: &'a Settings,
    ) -> impl Iterator<Item = (&'static str, Option<&'a Value>, Option<&'a Value>)> {
        let value = |set: Set<'a>| set.map(|(value, _)| value);
        self.changes(other).map(move |(key, a, b)| (key, value(a), value(b)))
    }

    /// The keys whose values differ, with both values and their origins.
    pub fn changes<'a>(
        &'a self,
        other: &'a Settings,
    ) -> impl Iterator<Item = (&'static str, Set<'a>, Set<'a>)> {
        let value = |set: Set<'a>| set.map(|(value, _)| value);
        let slots = self.values.iter().zip(&other.values);
        let keys = self.pattern.keys().iter().zip(slots);
        keys.map(|(key, (a, b))| (key.name, a.as_deref(), b.as_deref()))
            .filter(move |(_, a, b)| value(*a) != value(*b))
    }
}

// Typed reading, for the `config.rs` of each pattern. The table of keys guarantees the type, so a
// mismatch is a slip in that file and not in anybody's configuration.
#[allow(clippy::missing_panics_doc)]
impl Settings {
    /// A truth value; every such key has a default.
    pub fn bool(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Bool(b)) => *b,
            other => panic!("{name} is {other:?}, not a truth value"),
        }
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            None => None,
            Some(Value::Integer(n)) => Some(*n),
            other => panic!("{name} is {other:?}, not a whole number"),
        }
    }

    /// A whole number that has a default and whose range fits 32 bits.
    pub fn u32(&self, name: &str) -> u32 {
        let n = self.integer(name).unwrap_or_else(|| panic!("{name} has no default"));
        u32::try_from(n).unwrap_or(u32::MAX)
    }

    /// A number.
    pub fn float(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            None => None,
            Some(Value::Float(x)) => Some(*x),
            other => panic!("{name} is {other:?}, not a number"),
        }
    }

    /// A duration of a key that may be unset.
    pub fn optional_duration(&self, name: &str) -> Option<Duration> {
        match self.get(name) {
            None => None,
            Some(Value::Duration(d)) => Some(*d),
            other => panic!("{name} is {other:?}, not a duration"),
        }
    }

    /// A duration of a key that has a default.
    pub fn duration(&self, name: &str) -> Duration {
        self.optional_duration(name).unwrap_or_else(|| panic!("{name} has no default"))
    }

    /// A word or name of a key that may be unset.
    pub fn optional_word(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            None => None,
            Some(Value::Word(word)) => Some(word),
            other => panic!("{name} is {other:?}, not a word"),
        }
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> &Arc<[String]> {
        match self.get(name) {
            Some(Value::Texts(texts)) => texts,
            other => panic!("{name} is {other:?}, not a list of texts"),
        }
    }

    /// A word of a key that has a default.
    pub fn word(&self, name: &str) -> &str {
        self.optional_word(name).unwrap_or_else(|| panic!("{name} has no default"))
    }

    /// A list of error kinds.
    pub fn kinds(&self, name: &str) -> &Arc<[String]> {
        match self.get(name) {
            Some(Value::Kinds(kinds)) => kinds,
            other => panic!("{name} is {other:?}, not a list of kinds"),
        }
    }
}

/// Collects what a typed builder's methods set; all problems come out at `build`.
#[derive(Debug, Clone)]
pub struct Draft {
    settings: Settings,
    problems: Vec<Problem>,
}

impl Draft {
    /// Starts from the built-in defaults of a pattern.
    pub fn new(pattern: Pattern) -> Self {
        Self { settings: Settings::defaults(pattern), problems: Vec::new() }
    }

    /// Sets a key; what is wrong with it is told at the end.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Err(problem) = self.settings.set(name, value, Origin::Code) {
            self.problems.push(problem);
        }
    }

    /// The settings.
    ///
    /// # Errors
    ///
    /// Every problem that came up.
    pub fn finish(self) -> Result<Settings, ConfigError> {
        if self.problems.is_empty() {
            Ok(self.settings)
        } else {
            Err(ConfigError::new(self.problems))
        }
    }
}
