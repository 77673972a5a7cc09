//! What the integration tests share: the replay of traces recorded from Resilience4j, and the
//! loading of configurations.

pub mod config;
pub mod conformance;
