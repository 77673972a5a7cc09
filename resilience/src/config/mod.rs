//! Configuration: from text to checked settings.
//!
//! A [`Config`] is read from YAML, TOML, `.properties` or JSON, from environment variables and from
//! values set in code; every mistake in them comes out at once, with file, line, key and what would
//! be allowed. The shape is Resilience4j's, and so is the file: the `resilience4j:` section of a
//! Spring application's `application.yml` is read as it is.
//!
//! ```yaml
//! resilience:
//!   circuitbreaker:
//!     configs:
//!       default: { sliding_window_size: 50 }
//!     instances:
//!       paymentCb: { failure_rate_threshold: 25, wait_duration_in_open_state: 10s }
//! ```
//!
//! What sets a value goes before what comes earlier in this list: built-in defaults,
//! `configs.default`, the arguments of an attribute, the chain of bases that `base_config` names, the
//! instance's own section, environment variables.

mod address;
mod builder;
mod environment;
mod error;
#[cfg(feature = "config")]
mod file;
mod hint;
mod java;
mod key_path;
mod legacy;
mod loaded;
mod property;
mod reader;
mod report;
mod resolve;
mod settings;
mod source;
mod tree;
mod value;

pub use builder::ConfigBuilder;
pub use error::{ConfigError, Problem};
#[cfg(feature = "config")]
pub use file::Format;
pub use loaded::Config;
pub use resilience_settings::{Pattern, Value};
pub use settings::{Origin, Settings};

pub(crate) use resolve::Inline;
pub(crate) use settings::Draft;
