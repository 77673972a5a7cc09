//! The section `redis`: where that is which processes share.

mod check;
mod read;
mod settings;

pub use check::without_store;
pub use settings::StoreSettings;
