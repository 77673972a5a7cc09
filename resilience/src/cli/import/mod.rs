//! `resilience import`: Spring's file as one of ours.

mod yaml;

use std::path::PathBuf;

use clap::Args;

use super::{Output, sources::Sources};
use crate::config::{Finding, Report};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file of the Spring application, such as application.yml
    file: PathBuf,

    #[command(flatten)]
    sources: Sources,
}

/// The file on standard output; what did not carry over on standard error.
pub(super) fn run(arguments: &Arguments) -> Output {
    let config = match arguments.sources.load([&arguments.file]) {
        Ok(config) => config,
        Err(error) => return Output::failure(error.to_string()),
    };
    let lost = |finding: &&Finding| ["reading", "unknown_kind"].contains(&finding.code);
    let remarks: Report = config.report().findings().iter().filter(lost).cloned().collect();
    let remarks = remarks.to_string();
    Output { remarks, ..Output::answer(yaml::of(&config)) }
}
