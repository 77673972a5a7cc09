//! What the integration tests share: the replay of traces recorded from Resilience4j.

pub mod conformance;
