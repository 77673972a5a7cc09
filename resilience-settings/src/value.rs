use std::{fmt, sync::Arc, time::Duration};

use crate::Addresses;

/// A setting's value once it has been read and checked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(u64),
    /// A number with a fraction.
    Float(f64),
    /// A duration.
    Duration(Duration),
    /// A word of an enumeration, in its standard spelling, or a name.
    Word(String),
    /// A list of error kinds, shared by all that inherit it.
    Kinds(Arc<[String]>),
    /// A list of texts that stand for nothing but themselves.
    Texts(Arc<[String]>),
    /// A number per error kind.
    Counts(Vec<(String, u32)>),
    /// The addresses of a store.
    Addresses(Addresses),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::Integer(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x}"),
            Value::Duration(d) => f.write_str(&crate::format_duration(*d)),
            Value::Word(word) => f.write_str(word),
            Value::Kinds(list) | Value::Texts(list) => write!(f, "[{}]", list.join(", ")),
            Value::Addresses(addresses) => addresses.fmt(f),
            Value::Counts(counts) => {
                f.write_str("{")?;
                for (i, (kind, n)) in counts.iter().enumerate() {
                    write!(f, "{}{kind}: {n}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Why a value was refused: what would have been allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueError {
    allowed: String,
}

impl ValueError {
    pub(crate) fn new(allowed: String) -> Self {
        Self { allowed }
    }

    /// What would have been allowed, as a phrase.
    pub fn allowed(&self) -> &str {
        &self.allowed
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.allowed)
    }
}

impl std::error::Error for ValueError {}
