//! Layers for [tower](https://docs.rs/tower) services: axum, hyper, reqwest, tonic.
//!
//! One layer per pattern, and [`StackLayer`] for several of them in any order, as a
//! [`Stack`](crate::Stack) has them. Each is made of an instance (`new`), or of a name in a registry
//! (`from_registry`; `named` for the registry of the present [scope](crate::Resilience::scope) or the
//! process). Layers and services are cheap handles; whatever is cloned from them, axum's routes
//! included, shares the instance.
//!
//! ```
//! use std::convert::Infallible;
//! use http::{Request, Response, StatusCode};
//! use resilience::{CircuitBreaker, CircuitBreakerConfig, circuit_breaker::State};
//! use resilience::tower::{CircuitBreakerLayer, RefusalsToHttp, http_outcome};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = CircuitBreakerConfig::builder()
//!     .sliding_window_size(2)
//!     .failure_rate_threshold(100.0)
//!     .build()?;
//! let breaker = CircuitBreaker::new("search", config);
//! let service = ServiceBuilder::new()
//!     .layer(RefusalsToHttp) // outermost: what the layers below refuse becomes a response
//!     .layer(CircuitBreakerLayer::new(breaker.clone()).classify(http_outcome::<String>))
//!     .service(service_fn(|_: Request<()>| async {
//!         let mut response = Response::new("down".to_owned());
//!         *response.status_mut() = StatusCode::BAD_GATEWAY;
//!         Ok::<_, Infallible>(response)
//!     }));
//! for _ in 0..2 {
//!     assert_eq!(service.clone().oneshot(Request::new(())).await?.status(), 502);
//! }
//! assert_eq!(breaker.state(), State::Open);
//! let refused = service.oneshot(Request::new(())).await?;
//! assert_eq!(refused.status(), 503);
//! assert!(refused.headers().contains_key("retry-after"));
//! # Ok(())
//! # }
//! ```
//!
//! # The contract
//!
//! - **Readiness** is the inner service's, passed on. Nothing is acquired by `poll_ready`, so that a
//!   service which is dropped when it is ready holds nothing that could be lost. An error of the
//!   inner `poll_ready` is a [`CallError::Inner`](crate::CallError::Inner) of ours and counts
//!   nowhere: no call was made.
//! - **A call begins with `call`**, and goes to the very service that was polled ready. A stack's or
//!   retry's further attempts, and a call that has to wait for a permission or a slot, use clones;
//!   those of further attempts are made ready first, as part of the attempt.
//! - **A call ends when its future does**, which for HTTP is with the head of the response: then a
//!   bulkhead's slot is free, the time limit is met and the breaker has its outcome. A body that is
//!   streamed afterwards is under none of them, and an error within it counts nowhere. Where bodies
//!   are what takes the time, read them in a service within the layers (`http_body_util`'s `collect`).
//! - **Dropping the future** at any point gives back what it holds; the breaker counts nothing.
//! - **Repeating** needs a copy of the request: by `Clone`, or by `clone_request` for requests that
//!   are not `Clone`. Without a copy there is one attempt.
//! - **Outcomes**: an error counts by its kinds and rules as it does everywhere (`kinds()`,
//!   `rules(..)`), a response as `classify` says and by nothing else: the configuration's lists name
//!   errors. Without rules every error is a failure of no kind and every response a success, a 500
//!   too.
//! - **Several layers** of single patterns around one another nest their errors;
//!   [`CallError::flatten`](crate::CallError::flatten) makes one of two. A [`StackLayer`] does not
//!   nest.
//! - **Allocations**: a [`StackLayer`] or [`RetryLayer`] boxes one future per call; the others none.
//!
//! Error kinds of boxed errors (`tower::BoxError`) are those of the error in the box, as far as it
//! is a `std::io::Error` or of a crate whose kinds are a feature of this one.

mod attempts;
mod bulkhead;
mod by_name;
mod circuit_breaker;
mod clone_request;
mod grpc;
mod http;
mod rate_limiter;
mod refusing;
mod retry;
mod stack;
mod time_limiter;
mod to_rules;
mod turn;

pub use bulkhead::{BulkheadLayer, BulkheadService};
pub use circuit_breaker::{CircuitBreakerLayer, CircuitBreakerService};
pub use clone_request::{ByClone, CloneRequest};
pub use grpc::{RefusalsToGrpc, grpc_outcome, grpc_response};
#[cfg(feature = "reqwest")]
pub use http::reqwest_outcome;
pub use http::{RefusalsToHttp, http_outcome, http_response};
pub use rate_limiter::{RateLimiterLayer, RateLimiterService};
pub use refusing::{Refuse, Refusing};
pub use retry::RetryLayer;
pub use stack::{StackLayer, StackService};
pub use time_limiter::{TimeLimiterLayer, TimeLimiterService};
pub use to_rules::{NoRules, ToRules};

/// The futures that the services of single patterns return.
pub mod future {
    pub use super::{
        bulkhead::BulkheadFuture, circuit_breaker::CircuitBreakerFuture,
        rate_limiter::RateLimiterFuture, refusing::RefusingFuture, time_limiter::TimeLimiterFuture,
    };
}
