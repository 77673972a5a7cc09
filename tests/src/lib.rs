//! What the integration tests share: the replay of traces recorded from Resilience4j, the loading of
//! configurations and what has to hold for any text, texts changed at random, tables of what must come
//! out, an allocator that counts, and scrapes with a program to be scraped.

pub mod allocations;
pub mod config;
pub mod conformance;
pub mod exposition;
pub mod golden;
pub mod mutation;
pub mod observed;
pub mod soundness;
