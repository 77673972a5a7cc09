//! Replays scenarios that were recorded from Resilience4j, through the public interface.
//!
//! A scenario is one line of JSON: a configuration and steps, each with what Resilience4j answered.
//! The files in `tests/conformance/` hold one scenario a line, plain or gzipped.

pub mod bulkhead;
pub mod circuit_breaker;
mod json;
pub mod rate_limiter;
pub mod retry;

pub use json::Fields;

use std::{
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use flate2::read::GzDecoder;
use serde_json::Value;

/// Where a replay went another way than the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The scenario's `id`.
    pub scenario: String,
    /// The step, counted from 0; `None` when the scenario failed before its first one.
    pub step: Option<usize>,
    /// What was recorded and what happened instead.
    pub message: String,
}

impl Mismatch {
    /// A mismatch of a scenario as a whole.
    pub fn new(scenario: &Value, message: impl Into<String>) -> Self {
        Self { scenario: scenario.text("id").to_owned(), step: None, message: message.into() }
    }

    /// Names the step.
    #[must_use]
    pub fn at(mut self, step: usize) -> Self {
        self.step = Some(step);
        self
    }

    /// Compares one value.
    ///
    /// # Errors
    ///
    /// A mismatch when `actual` is not what was recorded.
    pub fn check<T: PartialEq + fmt::Debug>(
        scenario: &Value,
        what: &str,
        recorded: &T,
        actual: &T,
    ) -> Result<(), Self> {
        if recorded == actual {
            return Ok(());
        }
        Err(Self::new(scenario, format!("{what}: recorded {recorded:?}, was {actual:?}")))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(step) => write!(f, "{}, step {step}: {}", self.scenario, self.message),
            None => write!(f, "{}: {}", self.scenario, self.message),
        }
    }
}

impl std::error::Error for Mismatch {}

/// The scenarios of a file in `tests/conformance/`, such as `circuit_breaker.jsonl.gz`.
///
/// # Errors
///
/// When the file cannot be read or a line is not JSON.
pub fn scenarios(file: &str) -> io::Result<Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance").join(file);
    let zipped = path.extension().is_some_and(|extension| extension == "gz");
    let file = File::open(path)?;
    let reader: Box<dyn Read> =
        if zipped { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
    BufReader::new(reader)
        .lines()
        .map(|line| serde_json::from_str(&line?).map_err(io::Error::from))
        .collect()
}
