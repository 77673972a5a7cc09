use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Retry, TimeLimiter,
    clock::Clock,
    context::Context,
    trace::{Named, Names},
};

/// One layer of a stack, where it was stated.
#[derive(Debug, Clone)]
pub(super) enum Layer {
    Retry(Retry),
    CircuitBreaker(CircuitBreaker),
    RateLimiter {
        limiter: RateLimiter,
        /// How many permissions one call takes.
        permits: u32,
    },
    TimeLimiter(TimeLimiter),
    Bulkhead(Bulkhead),
}

impl Layer {
    pub(super) fn clock(&self) -> &Clock {
        match self {
            Layer::Retry(retry) => retry.clock(),
            Layer::CircuitBreaker(breaker) => breaker.clock(),
            Layer::RateLimiter { limiter, .. } => limiter.clock(),
            Layer::TimeLimiter(limiter) => limiter.clock(),
            Layer::Bulkhead(bulkhead) => bulkhead.clock(),
        }
    }

    /// Whether both are of one instance.
    pub(super) fn is_same(&self, other: &Layer) -> bool {
        match (self, other) {
            (Layer::Retry(one), Layer::Retry(other)) => one.is_same(other),
            (Layer::CircuitBreaker(one), Layer::CircuitBreaker(other)) => one.is_same(other),
            (
                Layer::RateLimiter { limiter: one, .. },
                Layer::RateLimiter { limiter: other, .. },
            ) => one.is_same(other),
            (Layer::TimeLimiter(one), Layer::TimeLimiter(other)) => one.is_same(other),
            (Layer::Bulkhead(one), Layer::Bulkhead(other)) => one.is_same(other),
            _ => false,
        }
    }

    /// The method of the builder that adds such a layer, and the name of the instance.
    pub(super) fn method_and_name(&self) -> (&'static str, &str) {
        match self {
            Layer::Retry(retry) => ("retry", retry.name()),
            Layer::CircuitBreaker(breaker) => ("circuit_breaker", breaker.name()),
            Layer::RateLimiter { limiter, .. } => ("rate_limiter", limiter.name()),
            Layer::TimeLimiter(limiter) => ("time_limiter", limiter.name()),
            Layer::Bulkhead(bulkhead) => ("bulkhead", bulkhead.name()),
        }
    }

    /// The place in the fixed order, counted from outside.
    fn rank(&self) -> u8 {
        match self {
            Layer::Retry(_) => 0,
            Layer::CircuitBreaker(_) => 1,
            Layer::RateLimiter { .. } => 2,
            Layer::TimeLimiter(_) => 3,
            Layer::Bulkhead(_) => 4,
        }
    }
}

/// The layers of a stack as they were stated.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// The outermost first.
    pub(super) layers: Vec<Layer>,
    /// Whether calls further down learn when this one's time is over.
    pub(super) deadline: bool,
    /// Whether each call has an idempotency key of its own.
    pub(super) idempotency_key: bool,
    /// The clock of all layers.
    pub(super) clock: Clock,
}

impl Order {
    pub(super) fn new(layers: Vec<Layer>, deadline: bool, idempotency_key: bool) -> Self {
        let clock = layers.first().map(|layer| layer.clock().clone()).unwrap_or_default();
        Self { layers, deadline, idempotency_key, clock }
    }

    #[cfg(feature = "tower")]
    pub(super) fn retries(&self) -> bool {
        self.layers.iter().any(|layer| matches!(layer, Layer::Retry(_)))
    }

    /// What a call tells all that it does, itself included, if it has something to tell.
    pub(super) fn context(&self) -> Option<Context> {
        self.idempotency_key.then(Context::of_new_call)
    }

    /// Whether this is the fixed order, with each pattern at most once.
    pub(super) fn is_fixed(&self) -> bool {
        self.layers.windows(2).all(|pair| pair[0].rank() < pair[1].rank())
    }
}

impl Named for Order {
    fn names(&self) -> Names<'_> {
        let mut names = Names::default();
        // The outermost last: it is named where there are two.
        for layer in self.layers.iter().rev() {
            let place = match layer {
                Layer::Retry(_) => &mut names.retry,
                Layer::CircuitBreaker(_) => &mut names.circuit_breaker,
                Layer::RateLimiter { .. } => &mut names.rate_limiter,
                Layer::TimeLimiter(_) => &mut names.time_limiter,
                Layer::Bulkhead(_) => &mut names.bulkhead,
            };
            *place = Some(layer.method_and_name().1);
        }
        names
    }
}
