use std::{fmt, ops::ControlFlow, sync::Arc};

use super::{Layers, Pass, Protected, StackBuilder, any_order::AnyOrder, blocking, layer::Order};
use crate::{Rules, context::carry, error::CallError};

/// Several patterns around one call, in the order in which they were stated; the [module](super)
/// tells more.
///
/// A cheap handle: clones share the same instances.
///
/// # Examples
///
/// ```
/// use resilience::{Bulkhead, BulkheadConfig, CallError, Retry, RetryConfig, Stack};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let stack = Stack::builder()
///     .retry(Retry::new("inventory", RetryConfig::default())) // around ...
///     .bulkhead(Bulkhead::new("inventory", BulkheadConfig::default()))
///     .build();
/// let reserved: Result<u32, CallError<std::io::Error>> = stack.call(|| async { Ok(3) }).await;
/// assert_eq!(reserved.unwrap(), 3);
/// # }
/// ```
#[derive(Clone)]
pub struct Stack {
    order: Arc<Order>,
    /// For the fast path: the layers of a stack that is in the fixed order and makes no keys.
    pub(super) fixed: Option<Arc<Layers>>,
}

impl Stack {
    /// Starts with no layer.
    pub fn builder() -> StackBuilder {
        StackBuilder::default()
    }

    pub(super) fn new(order: Order) -> Self {
        let is_plain = order.is_fixed() && !order.idempotency_key;
        let fixed = is_plain.then(|| Arc::new(Layers::of(&order)));
        Self { order: Arc::new(order), fixed }
    }

    /// The same stack for who makes the keys of the calls himself, and whether there are to be some.
    pub(super) fn without_keys(&self) -> (Self, bool) {
        let keyed = self.order.idempotency_key;
        let stack = if keyed {
            Self::new(Order { idempotency_key: false, ..(*self.order).clone() })
        } else {
            self.clone()
        };
        (stack, keyed)
    }

    /// The same stack off the fast path, whose behaviour must not differ.
    #[cfg(all(test, feature = "test-util"))]
    pub(super) fn off_the_fast_path(mut self) -> Self {
        self.fixed = None;
        self
    }

    /// Whether one call may take more than one attempt.
    #[cfg(feature = "tower")]
    pub(crate) fn retries(&self) -> bool {
        self.order.retries()
    }

    /// Makes a call through all layers; `operation` is called once per attempt.
    ///
    /// # Errors
    ///
    /// The error of the last attempt, or the refusal of a layer.
    ///
    /// # Panics
    ///
    /// A panic of `operation` passes through; every circuit breaker around it records a failure. On
    /// the system clock, waiting (a retry's, a limiter's, a time limit) needs a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives back every permit; circuit breakers record nothing.
    pub async fn call<T, E, F>(&self, mut operation: impl FnMut() -> F) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        self.call_while(const { &Rules::new() }, |_last| operation(), || true).await
    }

    /// Like [`call`](Stack::call), with rules that say which outcomes count as failures and are
    /// retried.
    ///
    /// # Errors
    ///
    /// As [`call`](Stack::call).
    ///
    /// # Panics
    ///
    /// As [`call`](Stack::call).
    ///
    /// # Cancel safety
    ///
    /// As [`call`](Stack::call).
    pub async fn call_by<T, E, F>(
        &self,
        rules: &Rules<T, E>,
        mut operation: impl FnMut() -> F,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        self.run(rules, |_last| operation()).await
    }

    /// Like [`call`](Stack::call), with arguments that each attempt gets a clone of, and the last
    /// possible one the arguments themselves: nothing is cloned without a retry.
    ///
    /// The arguments are one value, a tuple where there are several.
    ///
    /// # Errors
    ///
    /// As [`call`](Stack::call).
    ///
    /// # Panics
    ///
    /// As [`call`](Stack::call).
    ///
    /// # Cancel safety
    ///
    /// As [`call`](Stack::call).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// async fn reserve(sku: String, pieces: u32) -> Result<String, std::io::Error> {
    ///     Ok(format!("{pieces} of {sku}"))
    /// }
    ///
    /// let stack = resilience::global().stack().retry("inventory").build();
    /// let order = ("tea".to_owned(), 3);
    /// let reserved = stack.call_with(order, |(sku, pieces)| reserve(sku, pieces)).await;
    /// assert_eq!(reserved.unwrap(), "3 of tea");
    /// # }
    /// ```
    pub async fn call_with<A, T, E, F>(
        &self,
        arguments: A,
        operation: impl FnMut(A) -> F,
    ) -> Result<T, CallError<E>>
    where
        A: Clone,
        F: Future<Output = Result<T, E>>,
    {
        self.protect().call_with(arguments, operation).await
    }

    /// Makes a call through all layers that blocks its thread, by waiting as well as by what it does;
    /// it needs no runtime.
    ///
    /// Never call it in async code: the thread's other tasks would stand still.
    ///
    /// # Errors
    ///
    /// As [`call`](Stack::call).
    ///
    /// # Panics
    ///
    /// When the stack has a time limiter: nobody can cut a blocking call short. Run it in a
    /// [`ThreadPoolBulkhead`](crate::ThreadPoolBulkhead) within an async call instead, which can be
    /// left in time. A panic of `operation` passes through as in [`call`](Stack::call).
    ///
    /// # Examples
    ///
    /// ```
    /// let stack = resilience::global().stack().retry("disk").bulkhead("disk").build();
    /// let read = stack.call_blocking(|| std::fs::read("/no/such/file"));
    /// assert!(read.is_err());
    /// ```
    pub fn call_blocking<T, E>(
        &self,
        operation: impl FnMut() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        self.call_blocking_by(&Rules::new(), operation)
    }

    /// Like [`call_blocking`](Stack::call_blocking), with rules that say which outcomes count as
    /// failures and are retried.
    ///
    /// # Errors
    ///
    /// As [`call`](Stack::call).
    ///
    /// # Panics
    ///
    /// As [`call_blocking`](Stack::call_blocking).
    pub fn call_blocking_by<T, E>(
        &self,
        rules: &Rules<T, E>,
        operation: impl FnMut() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        blocking::call(&self.order, rules, operation)
    }

    /// Prepares calls that return `Result<T, E>`, for rules and a fallback of their own.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{CallNotPermitted, Config, Resilience, Rules, circuit_breaker::State};
    ///
    /// type Failed = std::io::Error;
    ///
    /// async fn quote(sku: u32) -> Result<String, Failed> {
    ///     Ok(format!("live price of {sku}"))
    /// }
    ///
    /// fn yesterdays(sku: u32, _open: CallNotPermitted) -> Result<String, Failed> {
    ///     Ok(format!("yesterday's price of {sku}"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Resilience::from_config(Config::default())?;
    /// let stack = registry.stack().retry("quote").circuit_breaker("quote").build();
    /// let quotes = stack
    ///     .protect::<String, Failed>()
    ///     .rules(Rules::new().kinds())
    ///     .fallback(yesterdays);
    /// assert_eq!(quotes.call_with(7, quote).await?, "live price of 7");
    /// registry.circuit_breaker("quote").transition_to(State::ForcedOpen)?;
    /// assert_eq!(quotes.call_with(7, quote).await?, "yesterday's price of 7");
    /// # Ok(())
    /// # }
    /// ```
    pub fn protect<T, E>(&self) -> Protected<T, E> {
        Protected::new(self.clone())
    }

    /// Makes a call through all layers. `operation` is told whether no attempt can follow.
    pub(super) async fn run<T, E, F>(
        &self,
        rules: &Rules<T, E>,
        operation: impl FnMut(bool) -> F,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        self.call_while(rules, operation, || true).await
    }

    /// The same for an operation that `can_repeat` only while this says so; it is asked after each
    /// attempt that the rules have to judge.
    pub(crate) async fn call_while<T, E, F>(
        &self,
        rules: &Rules<T, E>,
        mut operation: impl FnMut(bool) -> F,
        can_repeat: impl Fn() -> bool,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        let Some(layers) = &self.fixed else {
            let call = AnyOrder::new(&self.order, rules, operation, can_repeat);
            return carry(self.order.context(), call).await;
        };
        let mut pass = Pass::lent(layers);
        loop {
            // In a block of its own: the outcome would be kept while the call waits.
            let wait = {
                let last = pass.is_last_attempt();
                let outcome = match pass.admit().await {
                    // Called inside the protected body, so that a panic of the closure is one of the body.
                    Ok(()) => pass.protect(async { operation(last).await }).await,
                    Err(refused) => Err(CallError::Resilience(refused)),
                };
                let outcome = match outcome {
                    Ok(value) => {
                        if pass.succeed(rules) {
                            return Ok(value);
                        }
                        Ok(value)
                    }
                    Err(error) => Err(error),
                };
                match pass.settle_while(can_repeat(), outcome, rules) {
                    ControlFlow::Break(result) => return result,
                    ControlFlow::Continue(wait) => wait,
                }
            };
            pass.back_off(wait).await;
        }
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").field("layers", &self.order.layers).finish_non_exhaustive()
    }
}
