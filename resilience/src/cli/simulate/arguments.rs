use std::path::PathBuf;

use clap::Args;

use crate::cli::sources::Sources;

#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    /// The configuration file
    pub(super) file: PathBuf,

    /// What happens, as YAML: the stack, the calls and the backend
    #[arg(long, value_name = "FILE")]
    pub(super) scenario: PathBuf,

    /// Draw the timeline into this file too
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,

    #[command(flatten)]
    pub(super) sources: Sources,
}
