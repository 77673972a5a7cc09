//! Breakers of several processes that share their state through a real server.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod nodes;
mod registry;
mod script;
