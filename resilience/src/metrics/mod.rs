//! What the instances count, for Prometheus and for recorders of the `metrics` crate.
//!
//! [`Resilience::prometheus`](crate::Resilience::prometheus) is the text that a scrape wants. A program that
//! has a recorder of the `metrics` crate calls `publish`, or has `publish_every` do so; both are there with
//! the feature `metrics`. Both tell the same: every metric has one description, and its numbers
//! are read from the instances when they are asked for. Calls pay nothing for that.
//!
//! Names and labels are those that Resilience4j has in Prometheus, so that boards made for it draw a
//! program of this crate. `grafana/resilience.json` in the repository is a board for all that is here.
//!
//! # Labels
//!
//! Every series of a metric has the same labels, in one order: `application`, then, but for the
//! registry's own, `name` and `key`, then the metric's.
//!
//! - `application` is [`Resilience::application`](crate::Resilience::application).
//! - `key` is empty but for [keys](crate::keyed) that the setting `metric_keys` lists. The counters of the empty
//!   one are the name's own and those of all keys that are not listed, so that the sum of all series is
//!   that of all calls. Its gauges, such as the state, are those of the instance without a key. A listed
//!   key has series from its first instance on, and gauges while it has one.
//!
//! A key that is listed while it is in use starts at 0, and when it is listed again: what it has counted
//! before stays with the others. So the sum over a name never falls, and as long as the list is the same
//! no counter does, whatever is evicted or reloaded.
//!
//! # What goes away
//!
//! [`remove`](crate::Resilience::remove) takes an instance's series away; one that is made anew under the
//! name starts at 0, which Prometheus takes for a restart. The `metrics` crate has no way to take a
//! series away: a recorder keeps its last value, unless it forgets what was idle for some time, as
//! the idle timeout of `metrics-exporter-prometheus` does.
//!
// Under `doc` only, as the file is outside of the package: no build depends on it.
#![cfg_attr(doc, doc = include_str!("../../../docs/metrics.md"))]

mod collect;
mod family;
mod point;
mod prometheus;
#[cfg(feature = "metrics")]
mod publish;
#[cfg(feature = "metrics")]
mod publisher;

pub use prometheus::CONTENT_TYPE;
#[cfg(feature = "metrics")]
pub use publish::publish;
#[cfg(feature = "metrics")]
pub use publisher::{DEFAULT_PERIOD, Publisher, publish_every};
