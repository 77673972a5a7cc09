//! Loading texts, for the tests of configurations.

use resilience::config::{Config, ConfigError, Format};

/// Loads one text, without the environment.
///
/// # Errors
///
/// What is wrong with it.
pub fn load(text: &str, format: Format) -> Result<Config, ConfigError> {
    Config::builder().env(false).text(text, format).load()
}

/// Everything that is wrong with a text.
///
/// # Panics
///
/// When nothing is.
pub fn error_of(text: &str, format: Format) -> String {
    load(text, format).map(|config| panic!("accepted: {config:?}")).unwrap_err().to_string()
}

/// The value in force at a path, as text.
///
/// # Panics
///
/// When there is none.
pub fn value(config: &Config, path: &str) -> String {
    let effective = config.effective();
    let found = effective.iter().find(|(known, ..)| known == path);
    found.unwrap_or_else(|| panic!("no {path}")).1.to_string()
}
