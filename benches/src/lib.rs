//! What the benchmarks share: a body that is ready at once, instances at the same settings for
//! `resilience` and its peers, an allocator that counts, and the table of a run.

pub mod allocations;
pub mod body;
pub mod machine;
pub mod ours;
pub mod peers;
mod run;
pub mod settings;
mod table;
pub mod versions;

pub use run::Run;
