//! What the integration tests share: the replay of traces recorded from Resilience4j, the loading of
//! configurations, an allocator that counts, and scrapes with a program to be scraped.

pub mod allocations;
pub mod config;
pub mod conformance;
pub mod exposition;
pub mod observed;
