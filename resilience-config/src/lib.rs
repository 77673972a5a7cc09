//! The loader of configurations: from text, environment and values set in code to checked settings.
//!
//! The library loads with it when a program starts, and its macros, on request, when the program is
//! compiled. It knows no pattern's behaviour, no runtime and no macro, reads the environment only
//! where it is told to, and logs nothing: what there is to say is in what it returns. This crate is
//! internal to `resilience`, which documents the formats.

mod address;
mod application;
mod bases;
mod budgets;
mod complaints;
mod contradictions;
mod environment;
mod error;
#[cfg(feature = "files")]
mod file;
mod gathered;
mod hint;
mod java;
mod key_path;
mod legacy;
mod loaded;
mod loader;
mod property;
mod reader;
mod resolve;
mod settings;
mod source;
mod store;
#[cfg(test)]
mod testing;
mod tree;
mod value;

pub use contradictions::contradictions;
pub use error::{ConfigError, Problem};
#[cfg(feature = "files")]
pub use file::{Content, Format, Member, Node, tree as yaml_tree};
pub use hint::{Hints, question};
pub use loaded::{Loaded, instance_path};
pub use loader::Loader;
pub use property::{one_line, shorten};
pub use resolve::Inline;
pub use settings::{Draft, Origin, Settings};
pub use store::{StoreSettings, without_store};
pub use tree::{Base, Entries, Entry, Group, Section, Tree, Values};
