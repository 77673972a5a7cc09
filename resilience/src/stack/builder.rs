use super::{Layers, Stack};
use crate::{Bulkhead, CircuitBreaker, Clock, RateLimiter, Retry, TimeLimiter};

/// Collects the layers of a [`Stack`]; the order of the methods plays no part.
#[derive(Debug, Clone)]
pub struct StackBuilder {
    layers: Layers,
}

impl Default for StackBuilder {
    fn default() -> Self {
        Self { layers: Layers { permits: 1, ..Layers::default() } }
    }
}

impl StackBuilder {
    /// Calls again what failed; the outermost layer.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.layers.retry = Some(retry);
        self
    }

    /// Cuts off what fails too often.
    #[must_use]
    pub fn circuit_breaker(mut self, breaker: CircuitBreaker) -> Self {
        self.layers.circuit_breaker = Some(breaker);
        self
    }

    /// Limits how many calls start in a period.
    #[must_use]
    pub fn rate_limiter(mut self, limiter: RateLimiter) -> Self {
        self.layers.rate_limiter = Some(limiter);
        self
    }

    /// How many permissions a call takes of the rate limiter; 1 unless set.
    #[must_use]
    pub fn permits(mut self, permits: u32) -> Self {
        self.layers.permits = permits;
        self
    }

    /// Cuts short what takes too long.
    #[must_use]
    pub fn time_limiter(mut self, limiter: TimeLimiter) -> Self {
        self.layers.time_limiter = Some(limiter);
        self
    }

    /// Limits how many calls run at once; the innermost layer.
    #[must_use]
    pub fn bulkhead(mut self, bulkhead: Bulkhead) -> Self {
        self.layers.bulkhead = Some(bulkhead);
        self
    }

    /// Lets the protected calls that the operation makes learn when its time is over: at the end of
    /// the attempt's time limit or of the retry's `total_timeout`, whichever comes first. See
    /// [`deadline`](crate::deadline) for what they make of it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use resilience::{Stack, TimeLimiter, TimeLimiterConfig};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let limiter = TimeLimiter::new("payment", TimeLimiterConfig::default()); // 1 s
    /// let stack = Stack::builder().time_limiter(limiter).deadline().build();
    /// let left = stack.call(|| async { Ok::<_, std::io::Error>(resilience::deadline()) }).await;
    /// assert!(left.unwrap().is_some_and(|left| left <= Duration::from_secs(1)));
    /// # }
    /// ```
    #[must_use]
    pub fn deadline(mut self) -> Self {
        self.layers.deadline = true;
        self
    }

    /// Puts the layers together.
    ///
    /// # Panics
    ///
    /// When instances take their time from different clocks: their times could not be compared.
    pub fn build(mut self) -> Stack {
        let clocks: Vec<&Clock> = [
            self.layers.retry.as_ref().map(Retry::clock),
            self.layers.circuit_breaker.as_ref().map(CircuitBreaker::clock),
            self.layers.rate_limiter.as_ref().map(RateLimiter::clock),
            self.layers.time_limiter.as_ref().map(TimeLimiter::clock),
            self.layers.bulkhead.as_ref().map(Bulkhead::clock),
        ]
        .into_iter()
        .flatten()
        .collect();
        assert!(
            clocks.windows(2).all(|pair| pair[0].is_same(pair[1])),
            "the instances of a stack must take their time from one clock"
        );
        self.layers.clock = clocks.first().copied().cloned().unwrap_or_default();
        Stack::new(self.layers)
    }
}
