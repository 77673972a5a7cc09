use std::{ops::Deref, sync::Arc};

use super::layer::{Layer, Order};
use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Retry, ThreadPoolBulkhead, TimeLimiter,
    clock::Clock,
    trace::{Named, Names},
};

/// The instances that protect one call site, in no order: the order is [`Pass`]'s.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layers {
    pub(crate) retry: Option<Retry>,
    pub(crate) circuit_breaker: Option<CircuitBreaker>,
    pub(crate) rate_limiter: Option<RateLimiter>,
    /// How many permissions one call takes of the rate limiter.
    pub(crate) permits: u32,
    pub(crate) time_limiter: Option<TimeLimiter>,
    pub(crate) bulkhead: Option<Bulkhead>,
    pub(crate) thread_pool: Option<ThreadPoolBulkhead>,
    /// Whether calls further down learn when this one's time is over.
    pub(crate) deadline: bool,
    pub(crate) clock: Clock,
}

impl Layers {
    pub(super) const fn none() -> Self {
        Self {
            retry: None,
            circuit_breaker: None,
            rate_limiter: None,
            permits: 1,
            time_limiter: None,
            bulkhead: None,
            thread_pool: None,
            deadline: false,
            clock: Clock::system(),
        }
    }

    /// The layers of a stack that is in the fixed order.
    pub(super) fn of(order: &Order) -> Self {
        let Order { deadline, clock, .. } = order;
        let mut layers =
            Self { permits: 1, deadline: *deadline, clock: clock.clone(), ..Self::default() };
        for layer in order.layers.iter().cloned() {
            match layer {
                Layer::Retry(retry) => layers.retry = Some(retry),
                Layer::CircuitBreaker(breaker) => layers.circuit_breaker = Some(breaker),
                Layer::RateLimiter { limiter, permits } => {
                    layers.rate_limiter = Some(limiter);
                    layers.permits = permits;
                }
                Layer::TimeLimiter(limiter) => layers.time_limiter = Some(limiter),
                Layer::Bulkhead(bulkhead) => layers.bulkhead = Some(bulkhead),
            }
        }
        layers
    }
}

impl Named for Layers {
    fn names(&self) -> Names<'_> {
        let bulkhead = self.bulkhead.as_ref().map(Bulkhead::name);
        Names {
            retry: self.retry.as_ref().map(Retry::name),
            circuit_breaker: self.circuit_breaker.as_ref().map(CircuitBreaker::name),
            rate_limiter: self.rate_limiter.as_ref().map(RateLimiter::name),
            time_limiter: self.time_limiter.as_ref().map(TimeLimiter::name),
            bulkhead: bulkhead.or(self.thread_pool.as_ref().map(ThreadPoolBulkhead::name)),
        }
    }
}

impl Layers {
    /// The circuit breaker, if there is one and it acts.
    pub(super) fn acting_breaker(&self) -> Option<&CircuitBreaker> {
        self.circuit_breaker.as_ref().filter(|breaker| breaker.is_enabled())
    }

    /// The rate limiter, if there is one and it acts.
    pub(super) fn acting_limiter(&self) -> Option<&RateLimiter> {
        self.rate_limiter.as_ref().filter(|limiter| limiter.is_enabled())
    }
}

/// Layers that outlive a call: because they are lent to it, or because it holds them.
#[derive(Debug)]
#[repr(u8)] // a byte of its own is read in fewer instructions than what a field cannot be
pub(crate) enum Handle<'l> {
    Lent(&'l Layers),
    Shared(Arc<Layers>),
    /// Made for this call alone, which has keys.
    Own(Layers),
}

impl Deref for Handle<'_> {
    type Target = Layers;

    fn deref(&self) -> &Layers {
        match self {
            Handle::Lent(layers) => layers,
            Handle::Shared(layers) => layers,
            Handle::Own(layers) => layers,
        }
    }
}
