//! What several processes share through Redis, Valkey or a Redis Cluster.
//!
//! A [`Store`] is one connection to it, for everything of a program that is shared: the limits of
//! rate limiters with `scope: global`, locks of a [`SingleFlight`](crate::SingleFlight), breakers with
//! `scope: global`. It answers within a set time whatever becomes of the server:
//!
//! - A decision is one script, which runs on the server as a whole and on the server's clock. One that
//!   has not answered within `decision_timeout` is given up, and never sent again: it may have run.
//! - After five failures in a row a guard opens and the server is left alone for a second, up or down
//!   by a fifth; then one decision goes through, and if it fails too the pause doubles, up to ten seconds.
//!   Meanwhile the server gets a `PING` every second, and the first answer ends the pause: limits are
//!   shared again within two seconds, however long the server was away.
//! - A decision that has no answer is made by the limit's own setting, `on_store_failure`: `open` lets the
//!   call through, `closed` refuses it, `local` counts in this process, at its share of the limit.
//!
//! The connection lives on a thread of its own with a small runtime: it does not depend on the
//! program's runtimes, works for blocking callers too, and goes away with the last handle.
//!
//! # What is in the server
//!
//! Keys begin with the namespace and have the name as their hash tag, `shop:rl:{orders}`; all of one
//! decision are in one slot of a cluster. Every key has an expiry.
//!
//! # Time
//!
//! The store's own times are real ones, also where a test has paused tokio's clock.

mod answer;
mod config;
mod connection;
mod driver;
mod event;
mod failure;
mod guard;
mod health;
mod key;
mod link;
mod lookout;
mod metrics;
mod regular;
mod script;
#[allow(clippy::module_inception)] // its file is named for what is in it
mod store;

pub use config::{StoreConfig, StoreConfigBuilder};
pub use event::{StoreEvent, StoreEventKind};
pub use failure::StoreFailure;
pub use metrics::StoreMetrics;
pub use store::Store;

pub(crate) use answer::{Answer, Part, Reply, Undecided};
pub(crate) use key::Key;
pub(crate) use regular::{Regular, Turn, tell};
pub(crate) use script::{BREAKER, DISOWN, FIXED_WINDOW, GCRA, OWN, Script};
