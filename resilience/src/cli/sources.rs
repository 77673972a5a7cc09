use std::path::PathBuf;

use clap::Args;

use crate::config::{Config, ConfigBuilder, ConfigError};

/// Where settings are read from. The environment is left out unless asked for: an answer should not
/// depend on where it is given.
#[derive(Debug, Args)]
pub(super) struct Sources {
    /// A profile that is active, for documents with `on-profile`; may be given more than once
    #[arg(long, value_name = "NAME")]
    profile: Vec<String>,

    /// Read the variables of the environment too
    #[arg(long)]
    env: bool,

    /// Take `strict: true` for given
    #[arg(long)]
    strict: bool,
}

impl Sources {
    /// Reads the files; later ones win.
    pub(super) fn load<'a>(
        &self,
        files: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<Config, ConfigError> {
        let mut builder = Config::builder().env(self.env);
        if self.strict {
            builder = builder.strict(true);
        }
        for profile in &self.profile {
            builder = builder.profile(profile);
        }
        files.into_iter().fold(builder, ConfigBuilder::file).load()
    }
}
