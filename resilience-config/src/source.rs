use std::sync::Arc;

use crate::{Origin, property::Property};

/// Where properties were written: a file, or calls of the loader's `set`.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Its place among the sources; errors are reported in this order.
    rank: usize,
    file: Option<Arc<str>>,
}

impl Source {
    #[cfg(feature = "files")]
    pub(crate) fn file(rank: usize, name: Arc<str>) -> Self {
        Self { rank, file: Some(name) }
    }

    pub(crate) fn code(rank: usize) -> Self {
        Self { rank, file: None }
    }

    /// `resilience.yaml:12`, as errors name a place.
    pub(crate) fn place(&self, line: Option<usize>) -> String {
        match (&self.file, line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => file.to_string(),
            (None, _) => "code".to_owned(),
        }
    }

    pub(crate) fn spot(&self, line: Option<usize>) -> Spot {
        Spot { order: (self.rank, line.unwrap_or(0)), place: self.place(line) }
    }

    pub(crate) fn origin(&self, line: Option<usize>, entry: &str) -> Origin {
        match &self.file {
            Some(file) => Origin::File { file: file.to_string(), line, entry: entry.to_owned() },
            None => Origin::Code,
        }
    }
}

/// A place that can be put in order with others: by source, then by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) order: (usize, usize),
    pub(crate) place: String,
}

impl Spot {
    /// A variable of the environment; those come after every source.
    pub(crate) fn environment(variable: &str) -> Self {
        Self { order: (usize::MAX, 0), place: format!("environment {variable}") }
    }
}

/// What the files say, document by document in the order in which they apply.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Paths are below the root.
    pub(crate) documents: Vec<(Source, Vec<Property>)>,
    /// Those of profiles that are not active, where their names are wanted.
    pub(crate) inactive: Vec<(Source, Vec<Property>)>,
    /// The first file that was written for Resilience4j.
    pub(crate) imported: Option<Arc<str>>,
    /// What a Spring application calls itself in them.
    pub(crate) application: Option<Arc<str>>,
}
