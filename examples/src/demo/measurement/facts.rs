use std::fmt;

use serde::Serialize;

/// What was the case, one after the other, in words that are not ours.
#[derive(Debug, Clone, Serialize)]
pub(in crate::demo) struct Facts {
    name: &'static str,
    samples: Vec<String>,
}

impl Facts {
    pub(in crate::demo) fn of<T: fmt::Display>(
        name: &'static str,
        facts: impl IntoIterator<Item = T>,
    ) -> Self {
        Self { name, samples: facts.into_iter().map(|fact| fact.to_string()).collect() }
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.samples.join(", then "))
    }
}
