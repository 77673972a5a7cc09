//! The actuator, over real HTTP.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod change_state;
mod events;
mod health;
mod instances;
mod lists;
mod problems;
mod readers;
mod server;
mod streams;
mod support;
