//! Configuration: from text to checked settings.

mod error;
mod settings;

pub use error::{ConfigError, Problem};
pub use settings::{Origin, Settings};

pub(crate) use settings::Draft;
