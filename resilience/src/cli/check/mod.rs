//! `resilience check`: what is in force, where it comes from, and what is wrong with it.

mod json;
mod table;

use std::path::PathBuf;

use clap::Args;

use super::{Output, sources::Sources};
use crate::config::{Config, ConfigError, Finding, Origin, Report, Severity, Value};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The files, as a program reads them; later ones win
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    sources: Sources,

    /// Write JSON
    #[arg(long)]
    json: bool,

    /// Fail on warnings too
    #[arg(long)]
    deny_warnings: bool,
}

/// What was found out.
struct Checked {
    /// Key path, value and origin; nothing if the files are refused.
    settings: Vec<(String, Value, Origin)>,
    report: Report,
}

impl From<Result<Config, ConfigError>> for Checked {
    fn from(loaded: Result<Config, ConfigError>) -> Self {
        match loaded {
            Ok(config) => Self { settings: config.effective(), report: config.report() },
            Err(error) => {
                let problems = error.problems().iter().cloned();
                let report =
                    problems.map(|problem| Finding::of("refused", Severity::Error, problem));
                Self { settings: Vec::new(), report: report.collect() }
            }
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Output {
    let checked = Checked::from(arguments.sources.load(&arguments.files));
    let tolerated = if arguments.deny_warnings { Severity::Hint } else { Severity::Warning };
    let failed = checked.report.worst().is_some_and(|worst| worst > tolerated);
    let text = if arguments.json {
        json::of(&checked)
    } else {
        format!("{}{}", table::of(&checked.settings), verdict(&checked.report))
    };
    Output { failed, ..Output::answer(text) }
}

/// The findings and a last line that counts them.
fn verdict(report: &Report) -> String {
    let count = |severity| {
        let n = report.findings().iter().filter(|finding| finding.severity == severity).count();
        format!("{n} {severity}{}", if n == 1 { "" } else { "s" })
    };
    let counts = [Severity::Error, Severity::Warning, Severity::Hint].map(count).join(", ");
    let gap = if report.findings().is_empty() { "" } else { "\n" };
    format!("{report}{gap}{counts}\n")
}
