//! Rate limiter: how many calls a period lets through.
//!
//! A call takes permissions; a call that finds none waits for its turn, for at most
//! `timeout_duration`. A turn that would come later than that is refused at once, with the time
//! after which it makes sense to come back, instead of being left to wait in vain.
//!
//! # Refill
//!
//! [`Refill::Interval`] is Resilience4j's rule. Time is cut into periods, all permissions come back
//! with each, and a waiting call reserves one of a later period. No period admits more calls than
//! the limit, but the end of one and the start of the next may together admit twice as many within a
//! moment.
//!
//! [`Refill::Greedy`] lets permissions trickle back one by one (the generic cell rate algorithm, as the
//! crate `governor` has it): no window as long as a period, wherever it starts, admits more than the
//! limit plus one full burst.
//!
//! # Waiting and giving up
//!
//! A wait that is cancelled gives its permissions back; whoever queued behind it keeps its time, and
//! a later call may take the place. Once the wait is over the permissions are spent: dropping
//! the call after that gives nothing back.
//!
//! A disabled limiter lets every call through, and at once those that wait. Only who waits by itself
//! after [`RateLimiter::reserve`] cannot be told.
//!
//! # Where this differs from Resilience4j
//!
//! - A call that cannot succeed is refused at once, not after the whole timeout.
//! - [`RateLimiter::drain`] takes what is available at that moment. Resilience4j takes the number
//!   stored when the limiter was last used, and forgives reservations.

mod config;
// Decides whether permissions are there now, come later or are refused.
mod engine;
mod event;
mod global;
mod greedy;
mod instance;
mod interval;
mod line;
mod metrics;
mod quota;
mod wait;

pub use crate::scope::Scope;
pub use config::{Algorithm, OnStoreFailure, RateLimiterConfig, RateLimiterConfigBuilder, Refill};
pub use event::{RateLimiterEvent, RateLimiterEventKind};
pub use instance::RateLimiter;
pub use metrics::RateLimiterMetrics;

pub(crate) use instance::Ticket;
pub(crate) use quota::share_of;
pub(crate) use wait::Wait;
#[cfg(feature = "tower")]
pub(crate) use wait::WaitInTime;
