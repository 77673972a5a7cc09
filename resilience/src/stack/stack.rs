use std::{fmt, ops::ControlFlow, sync::Arc};

use super::{Handle, Layers, Pass, StackBuilder};
use crate::{Rules, error::CallError};

/// Several patterns around one call, composed in the fixed order
/// retry( circuit breaker( rate limiter( time limiter( bulkhead( call ))))).
///
/// A cheap handle: clones share the same instances. Layers that were not given are left out.
///
/// # Examples
///
/// ```
/// use resilience::{Bulkhead, BulkheadConfig, CallError, Retry, RetryConfig, Stack};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let stack = Stack::builder()
///     .retry(Retry::new("inventory", RetryConfig::default()))
///     .bulkhead(Bulkhead::new("inventory", BulkheadConfig::default()))
///     .build();
/// let reserved: Result<u32, CallError<std::io::Error>> = stack.call(|| async { Ok(3) }).await;
/// assert_eq!(reserved.unwrap(), 3);
/// # }
/// ```
#[derive(Clone)]
pub struct Stack {
    layers: Arc<Layers>,
}

impl Stack {
    /// Starts with no layer.
    pub fn builder() -> StackBuilder {
        StackBuilder::default()
    }

    pub(crate) fn new(layers: Layers) -> Self {
        Self { layers: Arc::new(layers) }
    }

    /// Whether one call may take more than one attempt.
    #[cfg(feature = "tower")]
    pub(crate) fn retries(&self) -> bool {
        self.layers.retry.is_some()
    }

    /// Makes a call through all layers; `operation` is called once per attempt.
    ///
    /// # Errors
    ///
    /// The error of the last attempt, or the refusal of a layer.
    ///
    /// # Panics
    ///
    /// A panic of `operation` passes through; the circuit breaker records a failure. On the system
    /// clock, waiting (a retry's, a limiter's, a time limit) needs a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives back every permit; the circuit breaker records nothing.
    pub async fn call<T, E, F>(&self, operation: impl FnMut() -> F) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        self.call_with(&Rules::new(), operation).await
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
    pub async fn call_with<T, E, F>(
        &self,
        rules: &Rules<T, E>,
        mut operation: impl FnMut() -> F,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        let mut pass = Pass::new(Handle::Shared(Arc::clone(&self.layers)));
        loop {
            let outcome = match pass.admit().await {
                // Called inside the protected body, so that a panic of the closure is one of the body.
                Ok(()) => pass.protect(async { operation().await }).await,
                Err(refused) => Err(CallError::Resilience(refused)),
            };
            match pass.settle(outcome, rules) {
                ControlFlow::Break(result) => return result,
                ControlFlow::Continue(wait) => pass.back_off(wait).await,
            }
        }
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layers = &*self.layers;
        f.debug_struct("Stack")
            .field("retry", &layers.retry)
            .field("circuit_breaker", &layers.circuit_breaker)
            .field("rate_limiter", &layers.rate_limiter)
            .field("time_limiter", &layers.time_limiter)
            .field("bulkhead", &layers.bulkhead)
            .finish_non_exhaustive()
    }
}
