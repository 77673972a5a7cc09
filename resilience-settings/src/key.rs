use std::sync::Arc;

use crate::{
    Addresses, MAX_NAME_CHARS, Value, ValueError, check_name, duration::parse_duration, same_name,
};

/// One setting: how it is written, what it accepts and what it is when nobody sets it.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The name in `snake_case`; camelCase and kebab-case are read as the same key.
    pub name: &'static str,
    /// Other names, Resilience4j's where ours differ.
    pub aliases: &'static [&'static str],
    /// What the value must be.
    pub ty: Type,
    /// The value when nobody sets one.
    pub default: Default,
    /// What the setting does, in one sentence.
    pub doc: &'static str,
}

/// The default of a [`Key`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    /// Unset: the feature behind the key is off, or another key decides.
    Unset,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(u64),
    /// A number with a fraction.
    Float(f64),
    /// A duration as it would be written in a file.
    Duration(&'static str),
    /// One of the words of an enumeration.
    Word(&'static str),
    /// An empty list.
    EmptyList,
    /// The number of processors less this many, at least 1.
    ProcessorsMinus(u64),
}

/// What a value must be. Bounds are inclusive unless the name says otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Integer {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A number; `min_exclusive` and `max_exclusive` tell whether the bound itself is refused.
    Float {
        /// Lower bound.
        min: f64,
        /// Whether the lower bound is refused.
        min_exclusive: bool,
        /// Upper bound.
        max: f64,
        /// Whether the upper bound is refused.
        max_exclusive: bool,
    },
    /// A duration such as `500ms`, `1m30s`, `PT5S`; a bare number is milliseconds.
    Duration {
        /// Smallest value, nanoseconds.
        min: u64,
    },
    /// The same, and not longer either.
    Within {
        /// Smallest value, nanoseconds.
        min: u64,
        /// Largest value, nanoseconds.
        max: u64,
    },
    /// One of these words, in any case, with `_` or `-`.
    Word(&'static [&'static str]),
    /// The name of something that is declared elsewhere; as long as an instance's may be.
    Name,
    /// A list of error kinds.
    Kinds,
    /// A list of texts that stand for nothing but themselves.
    Texts {
        /// How many there can be.
        max: usize,
    },
    /// A whole number of at least 1, or one such number per error kind.
    Counts,
    /// 1 to so many addresses of a store.
    Addresses {
        /// How many there can be.
        max: usize,
    },
    /// What the keys in a store begin with.
    Namespace,
}

/// The longest namespace, in characters.
const MAX_NAMESPACE: usize = 100;

impl Type {
    /// A percentage above 0 and up to 100.
    pub const PERCENT: Type =
        Type::Float { min: 0.0, min_exclusive: true, max: 100.0, max_exclusive: false };

    /// What is allowed, as a phrase for error messages: `a number above 0 and up to 100`.
    pub fn allowed(&self) -> String {
        match *self {
            Type::Bool => "true or false".into(),
            Type::Integer { min, max: u64::MAX } => format!("a whole number of at least {min}"),
            Type::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Type::Float { min, min_exclusive, max, max_exclusive } => {
                let low = if min_exclusive { "above" } else { "of at least" };
                if max >= f64::MAX {
                    return format!("a number {low} {min}");
                }
                let high = if max_exclusive { "below" } else { "up to" };
                format!("a number {low} {min} and {high} {max}")
            }
            Type::Duration { min: 0 } => "a duration such as 500ms, 2s or 1m30s".into(),
            Type::Duration { min } => format!(
                "a duration of at least {}, such as 500ms, 2s or 1m30s",
                crate::format_duration(std::time::Duration::from_nanos(min))
            ),
            Type::Within { min, max } => {
                let [min, max] =
                    [min, max].map(|n| crate::format_duration(std::time::Duration::from_nanos(n)));
                format!("a duration from {min} to {max}")
            }
            Type::Word(words) => format!("one of {}", words.join(", ")),
            Type::Name => format!("a name of 1 to {MAX_NAME_CHARS} characters"),
            Type::Kinds => "a list of error kinds".into(),
            Type::Texts { max } => format!("a list of at most {max} texts"),
            Type::Counts => "a whole number of at least 1, or one per error kind".into(),
            Type::Addresses { max } => format!(
                "1 to {max} addresses redis://[user:password@]host[:port][/database], or rediss:// with TLS"
            ),
            Type::Namespace => {
                format!("1 to {MAX_NAMESPACE} letters of ASCII, digits and `- _ . :`")
            }
        }
    }

    /// Reads a scalar as it stands in a file or a variable.
    ///
    /// # Errors
    ///
    /// Says what would be allowed when `text` is not of this type or out of range.
    pub fn parse(&self, text: &str) -> Result<Value, ValueError> {
        let text = text.trim();
        let value = match *self {
            Type::Bool => match text.to_ascii_lowercase().as_str() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => return Err(self.refuse()),
            },
            Type::Integer { .. } | Type::Counts => {
                Value::Integer(text.replace('_', "").parse().map_err(|_| self.refuse())?)
            }
            Type::Float { .. } => Value::Float(text.parse().map_err(|_| self.refuse())?),
            Type::Duration { .. } | Type::Within { .. } => Value::Duration(
                parse_duration(text)
                    .map_err(|error| ValueError::new(format!("{}: {error}", self.allowed())))?,
            ),
            Type::Word(_) | Type::Name | Type::Namespace => Value::Word(text.to_owned()),
            Type::Kinds => Value::Kinds(listed(text)),
            Type::Texts { .. } => Value::Texts(listed(text)),
            Type::Addresses { .. } => Value::Addresses(Addresses::listed(text)),
        };
        self.check(value)
    }

    /// Checks a value that is already typed, and brings words into their standard spelling.
    ///
    /// # Errors
    ///
    /// Says what would be allowed when `value` is of another type or out of range.
    pub fn check(&self, value: Value) -> Result<Value, ValueError> {
        match (*self, value) {
            (Type::Bool, value @ Value::Bool(_)) | (Type::Kinds, value @ Value::Kinds(_)) => {
                Ok(value)
            }
            (Type::Texts { max }, Value::Texts(texts)) if texts.len() <= max => {
                Ok(Value::Texts(texts))
            }
            (Type::Integer { min, max }, Value::Integer(n)) if (min..=max).contains(&n) => {
                Ok(Value::Integer(n))
            }
            #[allow(clippy::cast_precision_loss)] // bounds are small; beyond 2^53 all are refused
            (Type::Float { .. }, Value::Integer(n)) => self.check(Value::Float(n as f64)),
            (Type::Float { min, min_exclusive, max, max_exclusive }, Value::Float(x)) => {
                let low = if min_exclusive { x > min } else { x >= min };
                let high = if max_exclusive { x < max } else { x <= max };
                if low && high { Ok(Value::Float(x)) } else { Err(self.refuse()) }
            }
            (Type::Duration { min }, Value::Duration(d)) if d.as_nanos() >= u128::from(min) => {
                Ok(Value::Duration(d))
            }
            (Type::Within { min, max }, Value::Duration(d))
                if (u128::from(min)..=u128::from(max)).contains(&d.as_nanos()) =>
            {
                Ok(Value::Duration(d))
            }
            (Type::Word(words), Value::Word(text)) => words
                .iter()
                .find(|word| crate::same_name(word, &text))
                .map(|word| Value::Word((*word).to_owned()))
                .ok_or_else(|| self.refuse()),
            (Type::Name, Value::Word(name)) if check_name(&name).is_ok() => Ok(Value::Word(name)),
            (Type::Namespace, Value::Word(text)) if is_namespace(&text) => Ok(Value::Word(text)),
            (Type::Addresses { max }, Value::Addresses(addresses))
                if (1..=max).contains(&addresses.exposed().len()) && addresses.have_schemes() =>
            {
                Ok(Value::Addresses(addresses))
            }
            (Type::Counts, Value::Integer(n)) if n >= 1 && u32::try_from(n).is_ok() => {
                Ok(Value::Integer(n))
            }
            (Type::Counts, Value::Counts(counts)) if counts.iter().all(|(_, n)| *n >= 1) => {
                Ok(Value::Counts(counts))
            }
            _ => Err(self.refuse()),
        }
    }

    fn refuse(&self) -> ValueError {
        ValueError::new(self.allowed())
    }
}

fn is_namespace(text: &str) -> bool {
    (1..=MAX_NAMESPACE).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
}

/// What a list holds that is written in one text, with commas.
fn listed(text: &str) -> Arc<[String]> {
    text.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

impl Key {
    /// The position and definition of a key in a table of keys, written in `snake_case`, camelCase or
    /// kebab-case.
    pub fn find(keys: &'static [Key], text: &str) -> Option<(usize, &'static Key)> {
        keys.iter().enumerate().find(|(_, key)| {
            same_name(key.name, text) || key.aliases.iter().any(|alias| same_name(alias, text))
        })
    }

    /// Whether values may hold what must not be shown, not even where they are refused.
    pub const fn is_secret(&self) -> bool {
        matches!(self.ty, Type::Addresses { .. })
    }

    /// The default as a value, `None` when the key is unset by default.
    ///
    /// # Panics
    ///
    /// Never: the durations in the tables are checked by a test.
    pub fn default_value(&self) -> Option<Value> {
        Some(match self.default {
            Default::Unset => return None,
            Default::Bool(b) => Value::Bool(b),
            Default::Integer(n) => Value::Integer(n),
            Default::Float(x) => Value::Float(x),
            Default::Duration(text) => Value::Duration(parse_duration(text).expect("tested")),
            Default::Word(word) => Value::Word(word.to_owned()),
            Default::EmptyList => match self.ty {
                Type::Texts { .. } => Value::Texts([].into()),
                _ => Value::Kinds([].into()),
            },
            Default::ProcessorsMinus(less) => {
                let processors = std::thread::available_parallelism().map_or(1, usize::from);
                Value::Integer((processors as u64).saturating_sub(less).max(1))
            }
        })
    }
}
