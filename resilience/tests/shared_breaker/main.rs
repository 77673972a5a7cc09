//! Breakers of several processes that share their state through a real redis-server.

mod nodes;
mod script;
mod server;
