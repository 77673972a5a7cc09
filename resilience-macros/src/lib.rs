//! Attribute macros of `resilience`: `parse` reads tokens, `model` checks them, `expand` writes the
//! composed function. Use them through the `resilience` crate, which re-exports them.

mod compose;
mod error_kind;
mod expand;
mod lifetimes;
mod model;
mod names;
mod parse;
mod problems;

use proc_macro::TokenStream;
use resilience_settings::Pattern;

/// Retries the function while it fails.
///
/// The outermost of the five layers: one attempt is one full pass through all the others, and none
/// of their permits is held between attempts. Panics are never retried.
///
/// | argument | meaning |
/// |---|---|
/// | `name = "…"` | the instance; left out, the function's name |
/// | `key = expr` | of the instances under the name, the one for this value of the arguments |
/// | `fallback = path` or `[a, b]` | what answers when the call has failed for good |
/// | `retry_if = path` | `fn(&E) -> bool`: whether an error is worth another attempt |
/// | `ignore = path` | `fn(&E) -> bool`: errors that end the retry at once |
/// | `retry_result = path` | `fn(&T) -> bool`: results that are worth another attempt |
/// | `retry_after = path` | `fn(&E) -> Option<Duration>`: how long the error asks to wait |
/// | `mut_ok` | a `&mut` argument may be half changed when another attempt starts: no warning |
/// | `budget = "…"` | what retries are taken from; to be declared in a configuration that is loaded |
/// | `deadline` | calls further down learn when the time is over, see `resilience::deadline` |
/// | `idempotency_key` | each call has a key, the same in all attempts, see `resilience::idempotency_key` |
/// | `base_config = "…"` | the shared configuration to start from |
/// | `config = "…"` | the file that is to declare the instance, checked at compile time; `false`: none |
/// | `crate = path` | where `resilience` is found, for crates that re-export it |
/// | any key of the `retry` section | `max_attempts = 3`, `wait_duration = "200ms"`, … |
///
/// Owned arguments must be `Clone`: every attempt but the last possible one gets a clone.
///
/// # Examples
///
/// ```no_run
/// #[resilience::retry(name = "payment", max_attempts = 4, wait_duration = "100ms")]
/// async fn pay(amount: u64) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
///     Ok(amount)
/// }
/// ```
#[doc = include_str!("../docs/fallback.md")]
#[doc = include_str!("../docs/keys.md")]
#[doc = include_str!("../docs/functions.md")]
#[proc_macro_attribute]
pub fn retry(args: TokenStream, item: TokenStream) -> TokenStream {
    compose::attribute(Pattern::Retry, args.into(), &item.into()).into()
}

/// Cuts off a dependency that keeps failing, and lets it recover.
///
/// | argument | meaning |
/// |---|---|
/// | `name = "…"` | the instance; left out, the function's name |
/// | `key = expr` | of the instances under the name, the one for this value of the arguments |
/// | `fallback = path` or `[a, b]` | what answers when the call has failed for good |
/// | `record = path` | `fn(&E) -> bool`: errors that count as failures; the others are successes |
/// | `ignore = path` | `fn(&E) -> bool`: errors that count as neither |
/// | `record_result = path` | `fn(&T) -> bool`: results that count as failures |
/// | `open_for = path` | `fn(&E) -> Option<Duration>`: opens the breaker at once for that long |
/// | `base_config = "…"` | the shared configuration to start from |
/// | `config = "…"` | the file that is to declare the instance, checked at compile time; `false`: none |
/// | `crate = path` | where `resilience` is found, for crates that re-export it |
/// | any key of the `circuitbreaker` section | `failure_rate_threshold = 50`, … |
///
/// # Examples
///
/// ```no_run
/// # use resilience::{CallNotPermitted, Error};
/// #[resilience::circuit_breaker(name = "stockCb", sliding_window_size = 20, fallback = cached)]
/// async fn stock(sku: &str) -> Result<u32, Error> {
///     Ok(sku.len() as u32)
/// }
///
/// fn cached(_sku: &str, _open: CallNotPermitted) -> Result<u32, Error> {
///     Ok(0)
/// }
/// ```
#[doc = include_str!("../docs/fallback.md")]
#[doc = include_str!("../docs/keys.md")]
#[doc = include_str!("../docs/functions.md")]
#[proc_macro_attribute]
pub fn circuit_breaker(args: TokenStream, item: TokenStream) -> TokenStream {
    compose::attribute(Pattern::CircuitBreaker, args.into(), &item.into()).into()
}

/// Limits how many calls start in a period.
///
/// | argument | meaning |
/// |---|---|
/// | `name = "…"` | the instance; left out, the function's name |
/// | `key = expr` | of the instances under the name, the one for this value of the arguments |
/// | `fallback = path` or `[a, b]` | what answers when the call has failed for good |
/// | `permits = n` | how many permits one call takes, 1 when left out |
/// | `base_config = "…"` | the shared configuration to start from |
/// | `config = "…"` | the file that is to declare the instance, checked at compile time; `false`: none |
/// | `crate = path` | where `resilience` is found, for crates that re-export it |
/// | any key of the `ratelimiter` section | `limit_for_period = 50`, … |
///
/// # Examples
///
/// ```no_run
/// #[resilience::rate_limiter(limit_for_period = 10, limit_refresh_period = "1s", permits = 2)]
/// async fn search(query: String) -> Result<Vec<String>, resilience::Error> {
///     Ok(vec![query])
/// }
/// ```
#[doc = include_str!("../docs/fallback.md")]
#[doc = include_str!("../docs/keys.md")]
#[doc = include_str!("../docs/functions.md")]
#[proc_macro_attribute]
pub fn rate_limiter(args: TokenStream, item: TokenStream) -> TokenStream {
    compose::attribute(Pattern::RateLimiter, args.into(), &item.into()).into()
}

/// Ends a call that takes too long; the wait for a bulkhead slot counts.
///
/// | argument | meaning |
/// |---|---|
/// | `name = "…"` | the instance; left out, the function's name |
/// | `key = expr` | of the instances under the name, the one for this value of the arguments |
/// | `fallback = path` or `[a, b]` | what answers when the call has failed for good |
/// | `detach` | the body runs on after a timeout; arguments must be owned and `Send` |
/// | `deadline` | calls further down learn when the time is over, see `resilience::deadline` |
/// | `base_config = "…"` | the shared configuration to start from |
/// | `config = "…"` | the file that is to declare the instance, checked at compile time; `false`: none |
/// | `crate = path` | where `resilience` is found, for crates that re-export it |
/// | any key of the `timelimiter` section | `timeout_duration = "2s"`, … |
///
/// # Cancel safety
///
/// On a timeout the body's future is dropped where it waits, unless `detach` is written.
///
/// # Examples
///
/// ```no_run
/// #[resilience::time_limiter(timeout_duration = "2s")]
/// async fn quote(id: u64) -> Result<u64, resilience::Error> {
///     Ok(id)
/// }
/// ```
///
/// What is called inside needs no flag to keep to a deadline:
///
/// ```no_run
/// #[resilience::time_limiter(timeout_duration = "2s", deadline)]
/// async fn order(id: u64) -> Result<u64, resilience::Error> {
///     reserve(id).await // no attempt starts that could not end within the two seconds
/// }
///
/// #[resilience::retry(max_attempts = 5, wait_duration = "500ms")]
/// async fn reserve(id: u64) -> Result<u64, resilience::Error> {
///     let header = resilience::deadline().map(|left| left.as_millis()); // for the peer
///     Ok(id)
/// }
/// ```
#[doc = include_str!("../docs/fallback.md")]
#[doc = include_str!("../docs/keys.md")]
#[doc = include_str!("../docs/functions.md")]
#[proc_macro_attribute]
pub fn time_limiter(args: TokenStream, item: TokenStream) -> TokenStream {
    compose::attribute(Pattern::TimeLimiter, args.into(), &item.into()).into()
}

/// Limits how many calls run at once.
///
/// | argument | meaning |
/// |---|---|
/// | `name = "…"` | the instance; left out, the function's name |
/// | `key = expr` | of the instances under the name, the one for this value; not for a thread pool |
/// | `fallback = path` or `[a, b]` | what answers when the call has failed for good |
/// | `type = "semaphore"` or `"thread_pool"` | what bounds the calls; `semaphore` when left out |
/// | `base_config = "…"` | the shared configuration to start from |
/// | `config = "…"` | the file that is to declare the instance, checked at compile time; `false`: none |
/// | `crate = path` | where `resilience` is found, for crates that re-export it |
/// | any key of the `bulkhead` or `thread-pool-bulkhead` section | `max_concurrent_calls = 25`, … |
///
/// With `type = "thread_pool"` it stands on a *sync* function, runs it on a bounded pool of its own
/// and makes it async. That changes the signature, so it cannot stand in an implementation of a
/// trait that declares a sync method.
///
/// # Examples
///
/// ```no_run
/// #[resilience::bulkhead(type = "thread_pool", max_thread_pool_size = 4)]
/// fn render(page: String) -> Result<Vec<u8>, resilience::Error> {
///     Ok(page.into_bytes())
/// }
///
/// # async fn run() -> Result<(), resilience::Error> {
/// let bytes = render("page".to_owned()).await?;
/// # Ok(())
/// # }
/// ```
#[doc = include_str!("../docs/fallback.md")]
#[doc = include_str!("../docs/keys.md")]
#[doc = include_str!("../docs/functions.md")]
#[proc_macro_attribute]
pub fn bulkhead(args: TokenStream, item: TokenStream) -> TokenStream {
    compose::attribute(Pattern::Bulkhead, args.into(), &item.into()).into()
}

/// Marks a function that is composed already, for attributes that expand later.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn __resilience_composed(_args: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// Names the kinds of an error, so that configuration lists (`ignore_errors`, …) can name them.
///
/// Every variant is of the kind that is its name in `snake_case`, then of the groups that
/// `#[error_kind("…")]` names on it and on the enum. A struct is of one kind, its own name.
/// `#[error_kind(crate = path)]` says where `resilience` is found, for crates that re-export it.
///
/// `#[error_kind(from)]` on a variant or a struct takes the kinds of the error inside instead: of its
/// only field, or of the one that is called `source` or has `#[source]` or `#[from]`. The field's
/// type must be an `ErrorKind`; `Box`, `Arc` and `Option` of one are too. Names
/// and groups of its own such a variant has not. Type parameters in such fields are bound to be an
/// `ErrorKind`.
///
/// A refusal of a nested protected call that travels inside a variant, as its only field or as its
/// source, counts in the outer call as what it is: a `resilience::Error`, one of its structs such as
/// `CallNotPermitted`, or a `CallError` that carries one, also in a `Box`, an `Arc` or an `Option`.
///
/// # Examples
///
/// ```
/// use resilience::ErrorKind;
///
/// #[derive(ErrorKind)]
/// #[error_kind("payment")]
/// enum PaymentError {
///     #[error_kind("http_4xx")]
///     CardDeclined,
///     Refused(resilience::Error),
/// }
/// assert_eq!(PaymentError::CardDeclined.kinds(), ["card_declined", "http_4xx", "payment"]);
///
/// #[derive(ErrorKind)]
/// enum OrderError<E> {
///     SoldOut,
///     #[error_kind(from)]
///     Payment(PaymentError),
///     #[error_kind(from)]
///     Storage(Box<E>),
/// }
/// let declined = OrderError::<std::io::Error>::Payment(PaymentError::CardDeclined);
/// assert_eq!(declined.kinds(), ["card_declined", "http_4xx", "payment"]);
/// let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
/// assert_eq!(OrderError::Storage(Box::new(full)).kinds(), ["storage_full", "io"]);
/// ```
#[proc_macro_derive(ErrorKind, attributes(error_kind))]
pub fn derive_error_kind(item: TokenStream) -> TokenStream {
    error_kind::derive(item.into()).into()
}
