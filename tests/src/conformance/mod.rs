//! Replays scenarios that were recorded from Resilience4j, through the public interface.
//!
//! A scenario is one line of JSON: a configuration and steps, each with what Resilience4j answered.
//! The files in `tests/conformance/` hold one scenario a line, plain or gzipped.

mod bulkhead;
mod circuit_breaker;
mod differences;
mod json;
mod rate_limiter;
mod retry;
mod time_limiter;

pub use differences::{difference, known, uncompared};
pub use json::Fields;

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
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

/// Replays one scenario of any kind on fresh instances.
///
/// # Errors
///
/// The first step that went another way than recorded, or a kind that there is no replay for.
pub fn replay(scenario: &Value) -> Result<(), Mismatch> {
    match (scenario.text("kind"), scenario.text("module")) {
        ("circuit_breaker", _) | ("config_validation", "circuit_breaker") => {
            circuit_breaker::replay(scenario)
        }
        ("retry" | "interval_function", _) | ("config_validation", "retry") => {
            retry::replay(scenario)
        }
        ("rate_limiter", _) | ("config_validation", "rate_limiter") => {
            rate_limiter::replay(scenario)
        }
        ("semaphore_bulkhead" | "thread_pool_bulkhead", _)
        | ("config_validation", "bulkhead" | "thread_pool_bulkhead") => bulkhead::replay(scenario),
        ("config_validation", "time_limiter") => time_limiter::replay(scenario),
        (kind, module) => {
            Err(Mismatch::new(scenario, format!("unknown kind `{kind}` of module `{module}`")))
        }
    }
}

/// The files of a folder that hold scenarios, sorted by name.
///
/// # Errors
///
/// When the folder cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The kinds of an error that the recording knows by one word. They live for as long as the replay:
/// there are a handful of words.
fn kinds(word: &str) -> &'static [&'static str] {
    static KNOWN: Mutex<BTreeMap<String, &'static [&'static str]>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(word.to_owned()).or_insert_with(|| {
        let word: &'static str = Box::leak(word.to_owned().into_boxed_str());
        Box::leak(Box::new([word]))
    })
}

/// The folder of the scenarios that are part of this package.
pub fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/conformance"))
}

/// The scenarios of one file, plain or gzipped.
///
/// # Errors
///
/// When the file cannot be read or a line is not JSON; file and line are named.
pub fn scenarios(path: &Path) -> io::Result<Vec<Value>> {
    let zipped = path.extension().is_some_and(|extension| extension == "gz");
    let file = File::open(path)?;
    let reader: Box<dyn Read> =
        if zipped { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
    BufReader::new(reader)
        .lines()
        .enumerate()
        .filter(|(_, line)| line.as_ref().map_or(true, |line| !line.trim().is_empty()))
        .map(|(number, line)| {
            let at = |error: String| {
                let place = format!("{}:{}: {error}", path.display(), number + 1);
                io::Error::new(io::ErrorKind::InvalidData, place)
            };
            serde_json::from_str(&line.map_err(|error| at(error.to_string()))?)
                // The parser's own line is of a text of one line: it is always the first.
                .map_err(|error| at(format!("column {}: no JSON", error.column())))
        })
        .collect()
}
