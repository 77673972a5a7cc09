//! The circuit breaker: stops calling what keeps failing, and finds out by itself when to go on.
//!
//! A breaker watches the calls that go through it. While it is CLOSED, every call passes, and the
//! last ones (or those of the last seconds) are kept in a sliding window. Once the window holds the
//! minimum number of calls and too many of them failed, or were slow, the breaker is OPEN: it
//! refuses every call for a while. Then it is `HALF_OPEN` and lets a few probes through, whose
//! results close it or open it again. `FORCED_OPEN`, DISABLED and `METRICS_ONLY` are set by hand and
//! left by hand.
//!
//! ```text
//!           rate >= threshold              wait is over
//!  CLOSED ---------------------> OPEN ---------------------> HALF_OPEN
//!    ^                            ^                            |  |
//!    |                            +----- rate >= threshold ----+  |
//!    +---------------------------------- rate below --------------+
//! ```
//!
//! The rules are Resilience4j's, and traces recorded from it are replayed in this project's tests.
//! They differ in what leaves its users in trouble:
//!
//! - A call holds its place by a guard. Dropping the guard, as a cancelled future does, gives the
//!   place back and counts as nothing; a panic of the call counts as a failure.
//! - A call that was let in by one state and ends in a later one changes nothing there: it shows in
//!   [`Totals`] only. The untied methods (see below) count wherever they come, as Resilience4j's do.
//! - A probe that does not return loses its place to another one after `probe_lease`. Should it
//!   return after all while the breaker is still `HALF_OPEN`, its result counts.
//! - A timer ends with the state that set it, also on [`reset`](CircuitBreaker::reset).
//! - OPEN entered from DISABLED or `FORCED_OPEN` has an empty window of the configured size.
//! - Looking at a breaker changes nothing.
//!
//! # Changes that come by themselves
//!
//! With `automatic_transition_from_open_to_half_open_enabled` or
//! `max_wait_duration_in_half_open_state`, time alone changes the state. Whoever looks at the
//! breaker sees it at once; listeners hear of it at its time if the state that ends was entered on
//! a tokio runtime, where a task then waits for it, and with the next call otherwise.
//!
//! The runtime must have time enabled, as `#[tokio::main]` and [`enable_time`] do it. On one that
//! has not, it is as without runtime: tokio's panic about it is caught, so that the panic hook
//! hears of it once for the runtime; with `panic = "abort"` it ends the process.
//!
//! [`enable_time`]: tokio::runtime::Builder::enable_time
//!
//! # One state in many processes
//!
//! With `scope: global` and a store, the breakers of one name in all processes open and close together
//! as well. Calls do not wait for it: once in each `sync_interval` a breaker tells the store what it has
//! counted, and hears what all come to.
//!
//! - It is OPEN with the others when the calls of all reach a threshold and at least `min_nodes`
//!   processes see that by their own calls; the window is `sliding_window_size` seconds, or a minute
//!   for one of calls.
//! - `HALF_OPEN`, all together make the permitted number of probes, and decide together.
//! - It still opens by its own calls alone. Of its own state and the shared one the stricter wins.
//! - A state that was set by hand is this process' own until [`reset`](CircuitBreaker::reset), and so
//!   are DISABLED, `METRICS_ONLY` and `FORCED_OPEN`.
//! - While the store does not answer, the breaker goes on alone.
//!
//! The risk is why it is off by default: processes that are sick themselves, as many as `min_nodes`, cut off
//! all others from a callee that is well. Each live key of a name has a state and an exchange of its own.
//!
//! # By hand
//!
//! [`CircuitBreaker::call`] and [`CircuitBreaker::try_acquire`] are all that most code needs.
//! Bridges to other frameworks, where the end of a call is reported by somebody else than its
//! beginning, have the untied methods [`try_acquire_permission`], [`on_success`], [`on_error`],
//! [`on_result_failure`] and [`release_permission`]. They must report every call: an untied probe
//! that is never reported keeps its place until the state changes.
//!
//! [`try_acquire_permission`]: CircuitBreaker::try_acquire_permission
//! [`on_success`]: CircuitBreaker::on_success
//! [`on_error`]: CircuitBreaker::on_error
//! [`on_result_failure`]: CircuitBreaker::on_result_failure
//! [`release_permission`]: CircuitBreaker::release_permission

mod admission;
mod call;
mod config;
mod durations;
// Decides whether a call may pass, and what its end means for the state.
mod engine;
mod event;
mod in_flight;
mod instance;
mod left;
#[cfg(feature = "tracing")]
mod log;
mod metrics;
mod observation;
mod open_wait;
mod permit;
mod phase;
mod probes;
mod refusals;
mod report;
mod section;
mod shared;
mod snapshot;
mod state;
mod streaks;
mod timer;
mod window;
mod word;

pub use crate::scope::Scope;
pub use config::{
    CircuitBreakerConfig, CircuitBreakerConfigBuilder, FailureCounting, HalfOpenEvaluation,
    SlidingWindowType,
};
pub use event::{CircuitBreakerEvent, CircuitBreakerEventKind};
pub use instance::CircuitBreaker;
pub use metrics::{CircuitBreakerMetrics, Totals};
pub use permit::Permit;
pub use report::Outcome;
pub use state::{IllegalTransition, State, UnknownState};

pub(crate) use admission::Admission;
pub(crate) use durations::Timings;
pub(crate) use observation::{Observation, percentage};
pub(crate) use report::{Answers, Report};
