//! What the integration tests share: the replay of traces recorded from Resilience4j, the loading of
//! configurations, and an allocator that counts.

pub mod allocations;
pub mod config;
pub mod conformance;
