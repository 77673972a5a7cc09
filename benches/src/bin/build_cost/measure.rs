//! How long cargo is at a crate whose dependencies are built.

use std::{
    env,
    fs::File,
    path::Path,
    process::Command,
    time::{Duration, Instant, SystemTime},
};

use crate::generate::{ANNOTATED, BARE};

/// A command of cargo's, and what a function with attributes may cost in it.
#[derive(Clone, Copy)]
pub(crate) struct Build {
    arguments: &'static [&'static str],
    pub(crate) most: Duration,
}

impl Build {
    pub(crate) const CHECK: Self = Self { arguments: &["check"], most: Duration::from_millis(20) };
    pub(crate) const RELEASE: Self =
        Self { arguments: &["build", "--release"], most: Duration::from_millis(100) };

    pub(crate) fn name(self) -> String {
        self.arguments.join(" ")
    }
}

/// The shortest of all runs: what else the machine does only adds to it.
pub(crate) struct Measured {
    pub(crate) bare: Duration,
    pub(crate) annotated: Duration,
}

pub(crate) fn measure(workspace: &Path, build: Build, runs: u32) -> Result<Measured, String> {
    let mut shortest = Measured { bare: Duration::MAX, annotated: Duration::MAX };
    cargo(workspace, build, BARE)?;
    cargo(workspace, build, ANNOTATED)?;
    for _ in 0..runs {
        shortest.bare = shortest.bare.min(again(workspace, build, BARE)?);
        shortest.annotated = shortest.annotated.min(again(workspace, build, ANNOTATED)?);
    }
    Ok(shortest)
}

fn again(workspace: &Path, build: Build, package: &str) -> Result<Duration, String> {
    let source = workspace.join(package).join("src/main.rs");
    File::options()
        .write(true)
        .open(&source)
        .and_then(|file| file.set_modified(SystemTime::now()))
        .map_err(|error| format!("{} cannot be touched: {error}", source.display()))?;
    let start = Instant::now();
    cargo(workspace, build, package)?;
    Ok(start.elapsed())
}

fn cargo(workspace: &Path, build: Build, package: &str) -> Result<(), String> {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(build.arguments)
        .args(["--package", package, "--target-dir", "target"])
        .current_dir(workspace)
        .env("CARGO_INCREMENTAL", "0") // what has not changed would be taken from the run before
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("cargo {} --package {package} failed:\n{said}", build.name()))
}
