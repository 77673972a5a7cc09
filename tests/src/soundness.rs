//! What has to hold whatever is read. The fuzz targets (`fuzz/`) and the tests of the corpus ask it of
//! the same functions.

use resilience::config::{Config, ConfigError, Format};
use resilience_settings::{DurationError, format_duration, parse_duration};

/// The profile under which texts are loaded, so that conditions of documents are read too.
pub const PROFILE: &str = "prod";

/// Loads a text without the environment, and looks at all that comes of it.
///
/// # Errors
///
/// What is wrong with the text.
///
/// # Panics
///
/// When something is wrong with the loader: see [`look_at`].
pub fn load(text: &str, format: Format) -> Result<Config, ConfigError> {
    let loaded = Config::builder().env(false).profile(PROFILE).text(text, format).load();
    look_at(&loaded);
    loaded
}

/// Resolves every setting of a configuration, and reads every problem of a refused one.
///
/// # Panics
///
/// When a problem tells no file, or is no single line without control characters.
pub fn look_at(loaded: &Result<Config, ConfigError>) {
    match loaded {
        Ok(config) => {
            for (path, value, origin) in config.effective() {
                assert!(!format!("{path} = {value} from {origin}").is_empty());
            }
        }
        Err(error) => {
            for problem in error.problems() {
                let text = problem.to_string();
                assert!(!problem.message.is_empty(), "no message: {problem:?}");
                assert!(problem.place.is_some(), "no place: {text}");
                assert!(!text.contains(char::is_control), "control characters: {text:?}");
            }
        }
    }
}

/// Reads a duration, writes what was read and reads that.
///
/// # Errors
///
/// Why the text is no duration.
///
/// # Panics
///
/// When the two readings differ.
pub fn duration(text: &str) -> Result<u128, DurationError> {
    let read = parse_duration(text)?;
    let written = format_duration(read);
    assert_eq!(parse_duration(&written), Ok(read), "{text:?} is written as {written}");
    Ok(read.as_nanos())
}
