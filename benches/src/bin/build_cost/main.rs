//! What attributes cost at compile time: `cargo run -p resilience-bench --bin build_cost`.
//!
//! Writes a crate of 200 functions and one of the same functions with five attributes and a fallback
//! each, and compares how long rustc is at them. The dependencies are built before.

mod generate;
mod measure;
mod tree;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, ExitCode},
    time::Duration,
};

use generate::{ANNOTATED, BARE, FUNCTIONS};
use measure::{Build, Measured};

/// As many may be built for the default features.
const MOST_CRATES: usize = 35;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let runs = match arguments.as_slice() {
        [] => Some(5),
        [flag, runs] if flag == "--runs" => runs.parse().ok().filter(|runs| *runs > 0),
        _ => None,
    };
    let Some(runs) = runs else {
        eprintln!("error: the only argument is --runs <number>, 5 if left out");
        return ExitCode::FAILURE;
    };
    match report(runs) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Prints what was measured. Whether all of it is within its limit.
fn report(runs: u32) -> Result<bool, String> {
    let crates = tree::crates()?;
    let place = Temporary::new()?;
    generate::write(&place.0, workspace())?;
    let few = crates.len() <= MOST_CRATES;
    let mut within = few;
    println!("{:17}{:>10}{:>12}{:>16}{:>10}", "", BARE, ANNOTATED, "per function", "at most");
    for build in [Build::CHECK, Build::RELEASE] {
        let Measured { bare, annotated } = measure::measure(&place.0, build, runs)?;
        let each = annotated.saturating_sub(bare) / FUNCTIONS;
        let fits = each <= build.most;
        within &= fits;
        println!(
            "{:17}{:>8.2} s{:>10.2} s{:>13.1} ms{:>7} ms{}",
            build.name(),
            bare.as_secs_f64(),
            annotated.as_secs_f64(),
            milliseconds(each),
            build.most.as_millis(),
            remark(fits),
        );
    }
    println!(
        "crates of the default features: {}, at most {MOST_CRATES}{}",
        crates.len(),
        remark(few)
    );
    Ok(within)
}

fn remark(fits: bool) -> &'static str {
    if fits { "" } else { "   too much" }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace")
}

/// A directory that goes with the value.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Result<Self, String> {
        let path = env::temp_dir().join(format!("resilience-build-cost-{}", process::id()));
        fs::create_dir_all(&path)
            .map_err(|error| format!("{} cannot be made: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
