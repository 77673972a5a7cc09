//! What the tests of all that is shared are made of: servers that are started for one test and can be
//! stopped, killed and started again, clusters of them, a proxy that breaks the way to them, and
//! processes that share a limit.

pub mod cluster;
pub mod limits;
pub mod nodes;
pub mod proxy;
pub mod server;
