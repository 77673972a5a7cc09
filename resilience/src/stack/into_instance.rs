use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Resilience, Retry, TimeLimiter, sealed::Sealed,
};

/// An instance for a [`StackBuilder`](super::StackBuilder), or the name of one in its registry.
///
/// Implemented by the instances and by `&str`; sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a `{I}` nor the name of one",
    label = "not a `{I}`",
    note = "write the name, such as `\"payment\"`, or make a `{I}` of settings with its `new`"
)]
pub trait IntoInstance<I>: Sealed<I> {
    /// The instance; `registry` is asked for only by a name.
    #[doc(hidden)]
    fn into_instance(self, registry: impl FnOnce() -> Resilience) -> I;
}

macro_rules! instances {
    ($($Instance:ident: $get:ident),*) => {$(
        impl Sealed<$Instance> for $Instance {}
        impl Sealed<$Instance> for &str {}

        impl IntoInstance<$Instance> for $Instance {
            fn into_instance(self, _registry: impl FnOnce() -> Resilience) -> $Instance {
                self
            }
        }

        impl IntoInstance<$Instance> for &str {
            fn into_instance(self, registry: impl FnOnce() -> Resilience) -> $Instance {
                registry().$get(self)
            }
        }
    )*};
}

instances!(
    Retry: retry,
    CircuitBreaker: circuit_breaker,
    RateLimiter: rate_limiter,
    TimeLimiter: time_limiter,
    Bulkhead: bulkhead
);
