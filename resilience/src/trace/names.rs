/// The names of the instances that a call goes through, by layer: the outermost, where a layer comes
/// twice.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Names<'n> {
    pub(crate) retry: Option<&'n str>,
    pub(crate) circuit_breaker: Option<&'n str>,
    pub(crate) rate_limiter: Option<&'n str>,
    pub(crate) time_limiter: Option<&'n str>,
    /// Also a thread pool's.
    pub(crate) bulkhead: Option<&'n str>,
}

/// What a call goes through.
pub(crate) trait Named {
    fn names(&self) -> Names<'_>;
}

macro_rules! named {
    ($($instance:ident: $layer:ident),* $(,)?) => {
        $(impl Named for crate::$instance {
            fn names(&self) -> Names<'_> {
                Names { $layer: Some(self.name()), ..Names::default() }
            }
        })*
    };
}

named! {
    Retry: retry,
    CircuitBreaker: circuit_breaker,
    RateLimiter: rate_limiter,
    TimeLimiter: time_limiter,
    Bulkhead: bulkhead,
    ThreadPoolBulkhead: bulkhead,
}
