//! What is wanted of a run, and how to have it again.

use std::{
    env,
    path::Path,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// What is wanted of a run.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    pub(crate) length: Duration,
    pub(crate) start: Instant,
}

impl Run {
    pub(crate) fn of_environment() -> Self {
        let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().expect(name));
        let seed = number("SOAK_SEED").unwrap_or_else(|| fastrand::u64(..));
        let length = Duration::from_secs(number("SOAK_SECONDS").unwrap_or(60));
        Self { seed, length, start: Instant::now() }
    }

    pub(crate) fn say(self, what: &str) {
        println!("[{:6.1} s] {what}", self.start.elapsed().as_secs_f64());
    }
}

/// Tells how to have it all again, and where the logs are, if the test fails.
pub(crate) struct Trace {
    seed: u64,
    folder: Option<TempDir>,
}

impl Trace {
    /// Keeps logs and databases in a folder of this run's own.
    pub(crate) fn of(run: Run) -> Self {
        let folder = tempfile::Builder::new().prefix("resilience-soak-").tempdir().unwrap();
        Self { seed: run.seed, folder: Some(folder) }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.as_ref().expect("it is there until the end").path()
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(folder) = self.folder.take()
        {
            println!("SOAK_SEED={}, logs and databases in {}", self.seed, folder.keep().display());
        }
    }
}
