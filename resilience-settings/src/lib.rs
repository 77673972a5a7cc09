//! The settings of every pattern: their names, types, ranges and defaults.
//!
//! Configuration files, attribute arguments, environment variables and the typed builders all read
//! the tables in [`schema`], so a key means the same and is bounded the same wherever it is written.
//! This crate knows no file format, no runtime and no macro; it is internal to `resilience`.

mod addresses;
mod duration;
mod key;
mod name;
mod pattern;
pub mod schema;
mod value;

pub use addresses::Addresses;
pub use duration::{DurationError, format_duration, parse_duration};
pub use key::{Default, Key, Type};
pub use name::{MAX_NAME_CHARS, NameError, canonical, check_name, nearest, same_name, snake_case};
pub use pattern::Pattern;
pub use value::{Value, ValueError};
