use super::{
    IntoInstance, Stack,
    layer::{Layer, Order},
};
use crate::{Bulkhead, CircuitBreaker, RateLimiter, Resilience, Retry, TimeLimiter};

/// As many layers a stack can have.
const MOST_LAYERS: usize = 8;

/// Collects the layers of a [`Stack`], the outermost first: in the order in which they are written,
/// as a call meets them.
///
/// A layer is an instance or the name of one, which is looked up, once, in the registry that the
/// builder comes from: [`Resilience::stack`]'s, or for [`Stack::builder`] the present scope's, else
/// the process registry. A stack keeps its instances also when a name is
/// [removed](Resilience::remove) from the registry.
///
/// The same pattern may come more than once, by different instances; there may be eight layers at
/// most.
///
/// # Examples
///
/// A limit on the whole call around the retries, another one on each attempt:
///
/// ```
/// use std::time::Duration;
/// use resilience::{Config, Resilience, config::Format};
///
/// let config = "
///     timelimiter.instances: { whole: { timeout_duration: 3s }, attempt: { timeout_duration: 1s } }
///     retry.instances.quote: { max_attempts: 5 }";
/// let registry = Resilience::from_config(Config::from_str(config, Format::Yaml)?)?;
/// let stack = registry.stack().time_limiter("whole").retry("quote").time_limiter("attempt").build();
/// # let _ = stack;
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct StackBuilder {
    registry: Option<Resilience>,
    layers: Vec<Layer>,
    deadline: bool,
    idempotency_key: bool,
}

impl Resilience {
    /// Starts a stack of this registry's instances, which its layers may name.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{CallError, Config, Resilience};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), resilience::ConfigError> {
    /// let registry = Resilience::from_config(Config::default())?;
    /// let stack = registry.stack().retry("quote").circuit_breaker("quote").build();
    /// let quote: Result<u32, CallError<std::io::Error>> = stack.call(|| async { Ok(42) }).await;
    /// assert_eq!(quote.unwrap(), 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn stack(&self) -> StackBuilder {
        StackBuilder { registry: Some(self.clone()), ..StackBuilder::default() }
    }
}

impl StackBuilder {
    /// Calls again what failed, through all layers that follow.
    ///
    /// # Panics
    ///
    /// When it is a name that is none; see [`Resilience::retry`].
    #[must_use]
    pub fn retry(self, retry: impl IntoInstance<Retry>) -> Self {
        let retry = self.instance(retry);
        self.with(Layer::Retry(retry))
    }

    /// Cuts off what fails too often.
    ///
    /// # Panics
    ///
    /// When it is a name that is none; see [`Resilience::circuit_breaker`].
    #[must_use]
    pub fn circuit_breaker(self, breaker: impl IntoInstance<CircuitBreaker>) -> Self {
        let breaker = self.instance(breaker);
        self.with(Layer::CircuitBreaker(breaker))
    }

    /// Limits how many calls start in a period.
    ///
    /// # Panics
    ///
    /// When it is a name that is none; see [`Resilience::rate_limiter`].
    #[must_use]
    pub fn rate_limiter(self, limiter: impl IntoInstance<RateLimiter>) -> Self {
        self.rate_limiter_permits(limiter, 1)
    }

    /// Limits how many calls start in a period, where a call takes this many permissions; from 1.
    ///
    /// # Panics
    ///
    /// As [`rate_limiter`](Self::rate_limiter), and when the number is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{RateLimiter, RateLimiterConfig, Stack};
    ///
    /// let limiter = RateLimiter::new("batches", RateLimiterConfig::default());
    /// let stack = Stack::builder().rate_limiter_permits(limiter, 10).build();
    /// # let _ = stack;
    /// ```
    #[must_use]
    pub fn rate_limiter_permits(
        self,
        limiter: impl IntoInstance<RateLimiter>,
        permits: u32,
    ) -> Self {
        assert!(permits > 0, "`permits` is a whole number from 1 to 4294967295");
        let limiter = self.instance(limiter);
        self.with(Layer::RateLimiter { limiter, permits })
    }

    /// Cuts short what takes too long, all layers that follow included.
    ///
    /// # Panics
    ///
    /// When it is a name that is none; see [`Resilience::time_limiter`].
    #[must_use]
    pub fn time_limiter(self, limiter: impl IntoInstance<TimeLimiter>) -> Self {
        let limiter = self.instance(limiter);
        self.with(Layer::TimeLimiter(limiter))
    }

    /// Limits how many calls run at once.
    ///
    /// # Panics
    ///
    /// When it is a name that is none; see [`Resilience::bulkhead`].
    #[must_use]
    pub fn bulkhead(self, bulkhead: impl IntoInstance<Bulkhead>) -> Self {
        let bulkhead = self.instance(bulkhead);
        self.with(Layer::Bulkhead(bulkhead))
    }

    /// Lets the protected calls that the operation makes learn when its time is over: at the end of
    /// a time limit or of a retry's `total_timeout`, whichever comes first. See
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
        self.deadline = true;
        self
    }

    /// Gives each call an idempotency key, the same in all of its attempts and in the fallback; see
    /// [`idempotency_key`](crate::idempotency_key), where an example is as well.
    ///
    /// Such a stack allocates as one that is not in the fixed order does.
    #[must_use]
    pub fn idempotency_key(mut self) -> Self {
        self.idempotency_key = true;
        self
    }

    /// Puts the layers together.
    ///
    /// # Panics
    ///
    /// When there are more than eight layers; when an instance comes twice, which would count every
    /// call twice or, as a bulkhead, wait for itself; and when instances take their time from
    /// different clocks: their times could not be compared.
    pub fn build(self) -> Stack {
        let layers = self.layers;
        let many = layers.len();
        assert!(many <= MOST_LAYERS, "a stack has {MOST_LAYERS} layers at most, this one {many}");
        for (place, layer) in layers.iter().enumerate() {
            if layers[..place].iter().any(|outer| outer.is_same(layer)) {
                let (method, name) = layer.method_and_name();
                panic!(
                    "`{method}` '{name}' comes twice in this stack and would act twice on every \
                     call: give the inner layer an instance of its own, \
                     `.{method}(\"{name}-inner\")`"
                );
            }
        }
        assert!(
            layers.windows(2).all(|pair| pair[0].clock().is_same(pair[1].clock())),
            "the instances of a stack must take their time from one clock"
        );
        Stack::new(Order::new(layers, self.deadline, self.idempotency_key))
    }

    fn instance<I>(&self, given: impl IntoInstance<I>) -> I {
        given.into_instance(|| self.registry.clone().unwrap_or_else(Resilience::present))
    }

    fn with(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }
}
