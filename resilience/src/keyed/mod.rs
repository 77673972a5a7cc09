//! Many instances under one name, one for each key: a shard, a host, a tenant, an order.
//!
//! One sick shard must not cut off the healthy ones. `keyed` on an instance gives the one for a key,
//! made from the same configuration when it is not there yet; `key = …` at an attribute does so for
//! every call.
//!
//! ```
//! use resilience::{Error, circuit_breaker};
//!
//! #[circuit_breaker(name = "shard", key = shard_id)]
//! async fn read(shard_id: u32) -> Result<String, Error> {
//!     Ok(format!("from shard {shard_id}"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
//! read(7).await?;
//! let shard = resilience::global().circuit_breaker("shard").keyed(&7);
//! assert_eq!((shard.name(), shard.key()), ("shard", Some("7")));
//! assert_eq!(shard.metrics().buffered_calls, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Keys
//!
//! Two keys are one if they show the same text: `7`, `"7"` and `String::from("7")` are. Several values
//! are one key by `format_args!("{tenant}/{user}")`. A look-up that finds its
//! instance allocates nothing, by a name in a registry neither once that spelling was met before. Of a
//! key longer than 256 bytes the beginning and a hash are kept, so that keys from outside cannot fill
//! the memory; no two keys become one by that.
//!
//! An instance of a key is not divided further: its own `keyed` gives itself.
//!
//! # What they share
//!
//! Name, clock, configuration and events: a listener of the name hears of every key, and
//! [`InstanceEvent::key`](crate::events::InstanceEvent::key) says of which. Other settings for the
//! name, by a reload or by hand, reach the instances that are there. Removing the name from its
//! registry drops them; calls in flight end on the dropped ones.
//!
//! Metrics, state and permits are each key's own: those of the name itself know nothing of what its keys
//! do. `keyed_instances` of an instance gives the ones there are, such as to find the breakers that are
//! open:
//!
//! ```
//! use resilience::{CircuitBreaker, circuit_breaker::State};
//!
//! let shards = CircuitBreaker::new("shard", Default::default());
//! shards.keyed("eu").transition_to(State::Open)?;
//! shards.keyed("us");
//! let mut live = shards.keyed_instances();
//! live.retain(|shard| shard.state() == State::Open);
//! assert_eq!(live.iter().filter_map(|shard| shard.key()).collect::<Vec<_>>(), ["eu"]);
//! assert_eq!(shards.state(), State::Closed);
//! # Ok::<(), resilience::circuit_breaker::IllegalTransition>(())
//! ```
//!
//! Keys may be user ids: no text of an error, an event or the log has one. [Metrics](crate::metrics)
//! name those only that `metric_keys` lists, and count all others together.
//!
//! # How many there are
//!
//! At most `max_keys`. An instance may go once its key was not used for `key_idle_timeout`, nobody has a
//! handle to it (a permit, a call on its way and a waiting one are handles) and it remembers nothing
//! that a fresh one would not:
//!
//! - a circuit breaker is CLOSED, or OPEN or `HALF_OPEN` with its wait over; one that was set to
//!   `FORCED_OPEN`, DISABLED or `METRICS_ONLY` by hand stays;
//! - a rate limiter has all its permissions, a bulkhead all its slots;
//! - it was given no settings of its own by hand: a limit, a budget, `set_enabled`.
//!
//! Nothing goes on its own: a new key looks at a few of the others, and at a few more when `max_keys`
//! are there. If none of those may go, the key is served by one instance that all such keys share, without a
//! [`key`](crate::CircuitBreaker::key); that is counted in [`KeyedMetrics::overflowed`], and logged
//! once as a warning. The next look-up of the key tries again.

mod api;
mod counts;
pub(crate) mod key;
mod keys;
mod ledger;
mod map;
mod metrics;
mod settings;
mod shard;
#[cfg(test)]
mod tests;
mod text;

pub use key::Key;
pub use metrics::KeyedMetrics;

pub(crate) use counts::{Counted, Counts};
pub(crate) use keys::{Keys, Member, clear, instance_of};
pub(crate) use ledger::{Apart, Tally};
pub(crate) use settings::KeySettings;

use key::as_display;
