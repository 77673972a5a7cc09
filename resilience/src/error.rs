//! What the library itself returns when it does not let a call through, or cuts it short.

use std::{error::Error as StdError, fmt, time::Duration};

use crate::{circuit_breaker::State, clock::saturating_nanos, name::Name};

/// A duration, or none, in half the space: every result of a protected call has room for an error, and
/// is moved a few times on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Wait(u64);

impl Wait {
    const NONE: Self = Self(u64::MAX);

    fn new(duration: Option<Duration>) -> Self {
        // The longest is a nanosecond short of what stands for none.
        duration.map_or(Self::NONE, |duration| Self(saturating_nanos(duration).min(u64::MAX - 1)))
    }

    fn get(self) -> Option<Duration> {
        (self != Self::NONE).then(|| Duration::from_nanos(self.0))
    }
}

/// A duration in half the space, likewise.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Nanos(u64);

impl Nanos {
    fn get(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl fmt::Debug for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// A circuit breaker did not permit the call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallNotPermitted {
    instance: Name,
    state: State,
    retry_after: Wait,
}

/// A rate limiter did not permit the call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestNotPermitted {
    instance: Name,
    retry_after: Wait,
}

/// A bulkhead, semaphore or thread pool, had no place for the call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BulkheadFull {
    instance: Name,
}

/// A time limiter or a [deadline](crate::deadline) cut the call short.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimedOut {
    instance: Name,
    limit: Nanos,
    is_deadline: bool,
}

/// A retry with `fail_after_max_attempts` ran out of attempts on a result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaxRetriesExceeded {
    instance: Name,
    attempts: u32,
}

impl CallNotPermitted {
    #[inline]
    pub(crate) fn new(instance: Name, state: State, retry_after: Option<Duration>) -> Self {
        Self { instance, state, retry_after: Wait::new(retry_after) }
    }

    /// Returns the state that refused: OPEN, `HALF_OPEN` or `FORCED_OPEN`.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns the time left until an OPEN breaker lets a probe through; `None` in every other state.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after.get()
    }
}

impl RequestNotPermitted {
    #[inline]
    pub(crate) fn new(instance: Name, retry_after: Option<Duration>) -> Self {
        Self { instance, retry_after: Wait::new(retry_after) }
    }

    /// How long until the limiter could let this call through.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after.get()
    }
}

impl BulkheadFull {
    #[inline]
    pub(crate) fn new(instance: Name) -> Self {
        Self { instance }
    }
}

impl TimedOut {
    pub(crate) fn new(instance: Name, limit: Duration) -> Self {
        Self { instance, limit: Nanos(saturating_nanos(limit)), is_deadline: false }
    }

    /// `owner` is the instance whose time was over, `had` what was left when the call started.
    pub(crate) fn of_deadline(owner: Name, had: Duration) -> Self {
        Self { instance: owner, limit: Nanos(saturating_nanos(had)), is_deadline: true }
    }

    /// The limit that the call exceeded: the time limiter's, or what was left until the deadline when
    /// the call started, which may be zero.
    pub fn limit(&self) -> Duration {
        self.limit.get()
    }

    /// Whether a [deadline](crate::deadline) around the call was exceeded rather than a time limit of
    /// its own. `instance` then names whose it was: the time limiter's, the retry's (`total_timeout`),
    /// or `caller` for one that [`with_deadline`](crate::with_deadline) set.
    pub fn is_deadline(&self) -> bool {
        self.is_deadline
    }
}

impl MaxRetriesExceeded {
    pub(crate) fn new(instance: Name, attempts: u32) -> Self {
        Self { instance, attempts }
    }

    /// How many attempts were made.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }
}

// Texts are Resilience4j's: people search their logs for them.
impl fmt::Display for CallNotPermitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, state) = (&self.instance, self.state);
        write!(f, "CircuitBreaker '{name}' is {state} and does not permit further calls")
    }
}

impl fmt::Display for RequestNotPermitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RateLimiter '{}' does not permit further calls", self.instance)
    }
}

impl fmt::Display for BulkheadFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bulkhead '{}' is full and does not permit further calls", self.instance)
    }
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.instance;
        if self.is_deadline {
            write!(f, "Deadline of '{name}' was exceeded")
        } else {
            write!(f, "TimeLimiter '{name}' recorded a timeout exception.")
        }
    }
}

impl fmt::Display for MaxRetriesExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Retry '{}' has exhausted all attempts ({})", self.instance, self.attempts)
    }
}

/// Every way in which the library refuses a call or cuts it short.
///
/// A protected function returns `Result<T, E>` with `E: From<Error>`.
///
/// # Examples
///
/// ```
/// # use resilience::Error;
/// fn advice(error: &Error) -> &'static str {
///     match error {
///         Error::RequestNotPermitted(_) => "slow down",
///         Error::TimedOut(_) => "ask for less",
///         _ => "come back later",
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A circuit breaker did not permit the call.
    CallNotPermitted(CallNotPermitted),
    /// A rate limiter did not permit the call.
    RequestNotPermitted(RequestNotPermitted),
    /// A bulkhead had no place for the call.
    BulkheadFull(BulkheadFull),
    /// A time limiter or a deadline cut the call short.
    TimedOut(TimedOut),
    /// A retry ran out of attempts on a result, with `fail_after_max_attempts`.
    MaxRetriesExceeded(MaxRetriesExceeded),
}

impl Error {
    /// How long to wait before it makes sense to call again, when the refusing instance knows.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Error::CallNotPermitted(error) => error.retry_after(),
            Error::RequestNotPermitted(error) => error.retry_after(),
            Error::BulkheadFull(_) | Error::TimedOut(_) | Error::MaxRetriesExceeded(_) => None,
        }
    }

    /// How many whole seconds a client should wait, for a `Retry-After` header: rounded up, at least
    /// 1; `None` when the refusing instance does not know.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use resilience::{Error, RateLimiter, RateLimiterConfig};
    ///
    /// let config = RateLimiterConfig::builder()
    ///     .limit_for_period(1)
    ///     .limit_refresh_period(Duration::from_millis(1500))
    ///     .build()?;
    /// let limiter = RateLimiter::new("orders", config);
    /// limiter.try_acquire(1)?;
    /// let refused = Error::from(limiter.try_acquire(1).unwrap_err());
    /// assert_eq!(refused.http_status(), 429);
    /// assert!(matches!(refused.retry_after_seconds(), Some(1..=2)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn retry_after_seconds(&self) -> Option<u64> {
        let wait = self.retry_after()?;
        let rounded_up = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
        Some(rounded_up.max(1))
    }

    /// The status of the HTTP response that tells a client of this.
    ///
    /// | refusal | status |
    /// |---|---|
    /// | `CallNotPermitted`, `BulkheadFull`, `MaxRetriesExceeded` | 503 Service Unavailable |
    /// | `RequestNotPermitted` | 429 Too Many Requests |
    /// | `TimedOut` | 504 Gateway Timeout |
    pub fn http_status(&self) -> u16 {
        match self {
            Error::RequestNotPermitted(_) => 429,
            Error::TimedOut(_) => 504,
            Error::CallNotPermitted(_) | Error::BulkheadFull(_) | Error::MaxRetriesExceeded(_) => {
                503
            }
        }
    }

    /// The number of the gRPC status code that tells a client of this.
    ///
    /// | refusal | code |
    /// |---|---|
    /// | `CallNotPermitted`, `BulkheadFull`, `MaxRetriesExceeded` | 14 UNAVAILABLE |
    /// | `RequestNotPermitted` | 8 `RESOURCE_EXHAUSTED` |
    /// | `TimedOut` | 4 `DEADLINE_EXCEEDED` |
    ///
    /// A full bulkhead is UNAVAILABLE, as it is 503: clients repeat that by themselves, and the
    /// place may be free a moment later.
    pub fn grpc_code(&self) -> i32 {
        match self {
            Error::TimedOut(_) => 4,
            Error::RequestNotPermitted(_) => 8,
            Error::CallNotPermitted(_) | Error::BulkheadFull(_) | Error::MaxRetriesExceeded(_) => {
                14
            }
        }
    }

    /// What clients read; they are not told of names, which may be keys.
    #[cfg(any(feature = "axum", feature = "tonic", feature = "tower"))]
    pub(crate) fn public_text(&self) -> &'static str {
        match self {
            Error::CallNotPermitted(_) => "temporarily unavailable",
            Error::RequestNotPermitted(_) => "too many requests",
            Error::BulkheadFull(_) => "too busy",
            Error::TimedOut(_) => "timed out",
            Error::MaxRetriesExceeded(_) => "no good answer",
        }
    }

    /// The milliseconds of `grpc-retry-pushback-ms`, rounded up: a client that comes a millisecond
    /// early is refused again.
    #[cfg(any(feature = "tonic", feature = "tower"))]
    pub(crate) fn pushback_millis(&self) -> Option<i32> {
        let millis = self.retry_after()?.as_nanos().div_ceil(1_000_000);
        Some(millis.try_into().unwrap_or(i32::MAX))
    }

    /// The error kind, as written in configuration lists: `call_not_permitted`,
    /// `request_not_permitted`, `bulkhead_full`, `timeout` or `max_retries_exceeded`.
    pub fn kind(&self) -> &'static str {
        self.kinds()[0]
    }

    pub(crate) fn kinds(&self) -> &'static [&'static str] {
        match self {
            Error::CallNotPermitted(_) => &["call_not_permitted"],
            Error::RequestNotPermitted(_) => &["request_not_permitted"],
            Error::BulkheadFull(_) => &["bulkhead_full"],
            Error::TimedOut(_) => &["timeout"],
            Error::MaxRetriesExceeded(_) => &["max_retries_exceeded"],
        }
    }
}

macro_rules! variants {
    ($($variant:ident),*) => {
        $(
            impl $variant {
                /// The name of the instance that produced this error.
                pub fn instance(&self) -> &str {
                    self.instance.as_str()
                }
            }

            impl StdError for $variant {}

            impl From<$variant> for Error {
                fn from(error: $variant) -> Self {
                    Error::$variant(error)
                }
            }
        )*

        impl Error {
            /// The name of the instance that produced this error.
            pub fn instance(&self) -> &str {
                match self { $(Error::$variant(error) => error.instance(),)* }
            }
        }

        /// The refusal itself is the source, so that it is found also behind an error that forwards
        /// to this one (thiserror's `transparent`), whose own value cannot be seen.
        impl StdError for Error {
            fn source(&self) -> Option<&(dyn StdError + 'static)> {
                Some(match self { $(Error::$variant(error) => error,)* })
            }
        }

        impl fmt::Display for Error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Error::$variant(error) => error.fmt(f),)* }
            }
        }
    };
}

variants!(CallNotPermitted, RequestNotPermitted, BulkheadFull, TimedOut, MaxRetriesExceeded);

/// The error between two layers: the business error of the protected body, or the library's own.
///
/// Fallbacks may take it, and every `call` without attributes returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError<E> {
    /// The protected body ran and returned this error.
    Inner(E),
    /// The library refused the call or cut it short.
    Resilience(Error),
}

impl<E> CallError<E> {
    /// The business error, if it is one.
    pub fn inner(&self) -> Option<&E> {
        match self {
            CallError::Inner(error) => Some(error),
            CallError::Resilience(_) => None,
        }
    }

    /// The library's own error, if it is one.
    pub fn resilience(&self) -> Option<&Error> {
        match self {
            CallError::Inner(_) => None,
            CallError::Resilience(error) => Some(error),
        }
    }

    /// Becomes the user's error type, the way a protected function returns it.
    pub fn into_error(self) -> E
    where
        E: From<Error>,
    {
        match self {
            CallError::Inner(error) => error,
            CallError::Resilience(error) => E::from(error),
        }
    }
}

impl<E> CallError<CallError<E>> {
    /// Makes one error of two: what an outer call says of an inner one's.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::CallError;
    ///
    /// let nested = CallError::Inner(CallError::Inner("down"));
    /// assert_eq!(nested.flatten(), CallError::Inner("down"));
    /// ```
    pub fn flatten(self) -> CallError<E> {
        match self {
            CallError::Inner(error) => error,
            CallError::Resilience(refusal) => CallError::Resilience(refusal),
        }
    }
}

impl<E> From<Error> for CallError<E> {
    fn from(error: Error) -> Self {
        CallError::Resilience(error)
    }
}

impl<E: fmt::Display> fmt::Display for CallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Inner(error) => error.fmt(f),
            CallError::Resilience(error) => error.fmt(f),
        }
    }
}

impl<E: StdError + 'static> StdError for CallError<E> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            // Shown as the inner error itself, so that a printed chain does not say it twice.
            CallError::Inner(error) => error.source(),
            // Kept in the chain: this is how an outer call finds the refusal of a nested one.
            CallError::Resilience(error) => Some(error),
        }
    }
}
