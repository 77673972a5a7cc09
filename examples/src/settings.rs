//! Where the protections are declared.

use std::path::Path;

use resilience::{
    Config, ConfigError,
    config::{ConfigBuilder, Format},
};

/// The declarations that are built in, for a start without any file.
pub const EMBEDDED: &str = include_str!("../resilience.yaml");

/// What is declared on top of them for processes that share limits.
pub const SHARED: &str = include_str!("../redis.yaml");

/// Reads the declarations from `file`, or the built-in ones.
///
/// # Errors
///
/// If the file is missing or anything in it is wrong: nothing starts on a mistaken configuration.
pub fn load(file: Option<&Path>) -> Result<Config, ConfigError> {
    loader(file).load()
}

/// What reads the declarations from `file`, or the built-in ones, as often as it is asked to.
pub fn loader(file: Option<&Path>) -> ConfigBuilder {
    match file {
        Some(file) => Config::builder().file(file),
        None => Config::builder().text(EMBEDDED, Format::Yaml),
    }
}
