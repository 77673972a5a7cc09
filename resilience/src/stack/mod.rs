//! The composition: retry( circuit breaker( rate limiter( time limiter( bulkhead( body ))))), and
//! any other order that a [`Stack`] is asked for.
//!
//! The attributes always use the first. It puts every timeout where the circuit breaker sees it, gives
//! each attempt of a retry a full pass through the other layers, and holds no permit while a retry
//! waits.
//!
//! # Order
//!
//! A [`StackBuilder`] is told the layers from outside to inside, as a call meets them (like Polly's
//! pipelines; the other way round from Resilience4j's `Decorators`, whose last call is the outermost).
//! A layer may come twice: a time limit for the whole call outside of the retry, another one for each
//! attempt within it. Every layer acts on what is inside of it just as its own `call` would:
//!
//! - A time limit that is over drops everything within it: bulkhead slots are free again,
//!   reservations are given back, inner circuit breakers count nothing. Its timeout is what the
//!   layers around it see.
//! - A retry makes each attempt anew through what is inside of it, while layers outside of it keep
//!   what they have: a bulkhead around a retry holds its slot during the waits.
//! - A panic of the body is one failure for every circuit breaker around it.
//!
//! Where a stack follows the fixed order, or leaves some of its layers out, a call allocates nothing. In
//! any other order, or with [keys](StackBuilder::idempotency_key), it allocates a small list, and a box for every time limit and every wait.
//!
//! # Blocking callers
//!
//! [`Stack::call_blocking`] and the blocking methods of the instances park their thread where async
//! ones would wait, and wait in the same queues. They need no runtime, and must not be called by
//! tasks of one. Their waits go by the instance's clock: the hand of a [manual](crate::Clock::manual)
//! one wakes them. On tokio's paused clock they wait until a test moves it.
//!
//! # Events and metrics
//!
//! A stack uses the instances that annotated functions use; they count and tell the same, whichever
//! way a call comes. Annotated functions find the kinds of their errors by themselves, though, where a
//! stack has to be told with [`Rules::kinds`](crate::Rules::kinds).

mod admit;
mod any_order;
mod blocking;
mod body;
mod builder;
mod fallback;
mod gate;
mod into_instance;
mod layer;
mod layers;
pub(crate) mod pass;
mod protect;
mod protected;
#[allow(clippy::module_inception)] // where one looks for `Stack`
mod stack;

pub use builder::StackBuilder;
pub use fallback::Fallback;
pub use into_instance::IntoInstance;
pub use protected::{Protected, Unanswered, WithFallback};
pub use stack::Stack;

pub(crate) use layers::{Handle, Layers};
pub(crate) use pass::Pass;

use protect::Protect;
