use std::{
    future::Future,
    mem,
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll},
};

use tower_layer::Layer;
use tower_service::Service;

use super::{
    ByClone, CloneRequest, NoRules, ToRules, attempts::Attempts, by_name::constructors,
    clone_request::repeating, to_rules::judging,
};
use crate::{CallError, Stack};

/// Protects a service by a whole [`Stack`].
///
/// By name it takes every pattern that has an instance of that name in the registry, each declared
/// in the configuration or already in use, in the fixed order. Which those are is looked up once, when
/// the layer is made: a reload changes their settings here too, but a pattern that it declares for the
/// name is in new layers only. Where a pattern is to be had later by a reload, declare it from the
/// beginning with `enabled: false`.
///
/// # Examples
///
/// A request that cannot be cloned, here one with a body that is read as it comes, is sent again
/// only where `clone_request` makes a copy of it:
///
/// ```
/// use http::{Method, Request, Response};
/// use resilience::{Config, Resilience, config::Format, tower::StackLayer};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// struct Body; // is not Clone
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let yaml = "
///     retry.instances.stock: { max_attempts: 3, wait_duration: 1ms }
///     timelimiter.instances.stock: { timeout_duration: 1s }";
/// let registry = Resilience::from_config(Config::from_str(yaml, Format::Yaml)?)?;
/// let layer = StackLayer::from_registry(&registry, "stock")
///     .kinds()
///     .clone_request(|request: &Request<Body>| {
///         let mut copy = Request::new(Body);
///         *copy.uri_mut() = request.uri().clone();
///         (*request.method() == Method::GET).then_some(copy)
///     });
/// let stock = layer.layer(service_fn(|_: Request<Body>| async {
///     Err::<Response<Body>, _>(std::io::Error::other("down"))
/// }));
/// assert!(stock.clone().oneshot(Request::get("/stock/7").body(Body)?).await.is_err());
/// assert!(stock.oneshot(Request::post("/stock/7").body(Body)?).await.is_err());
/// let metrics = registry.retry("stock").metrics();
/// assert_eq!((metrics.failed_with_retry, metrics.failed_without_retry), (1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct StackLayer<C = NoRules, K = ByClone> {
    instance: Stack,
    rules: C,
    copy: K,
}

impl StackLayer {
    constructors!(
        Stack,
        "the stack",
        "And when no pattern has an instance of this name: nothing would be protected.";
        rules: NoRules, copy: ByClone
    );
}

impl<C, K> StackLayer<C, K> {
    judging!(StackLayer<K>; instance, copy);
    repeating!(StackLayer; instance, rules);
}

impl<S, C: Clone, K: Clone> Layer<S> for StackLayer<C, K> {
    type Service = StackService<S, C, K>;

    fn layer(&self, inner: S) -> Self::Service {
        StackService::new(inner, self.instance.clone(), self.rules.clone(), self.copy.clone())
    }
}

/// A service behind a [`StackLayer`] or a [`RetryLayer`](super::RetryLayer).
///
/// # Cancel safety
///
/// Dropping its futures gives back every permit; the circuit breaker records nothing.
#[derive(Debug, Clone)]
pub struct StackService<S, C = NoRules, K = ByClone> {
    inner: S,
    stack: Stack,
    rules: C,
    copy: K,
}

impl<S, C, K> StackService<S, C, K> {
    pub(super) fn new(inner: S, stack: Stack, rules: C, copy: K) -> Self {
        Self { inner, stack, rules, copy }
    }
}

impl<S, C, K, R> Service<R> for StackService<S, C, K>
where
    S: Service<R> + Clone + Send + 'static,
    S::Response: Send + 'static,
    S::Error: Send + 'static,
    S::Future: Send,
    C: ToRules<S::Response, S::Error>,
    K: CloneRequest<R> + Send + 'static,
    R: Send + 'static,
{
    type Response = S::Response;
    type Error = CallError<S::Error>;
    // Boxed: the future borrows from itself, and stable Rust has no name for an async block's type.
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(CallError::Inner)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let next = self.inner.clone();
        let ready = mem::replace(&mut self.inner, next);
        let stack = self.stack.clone();
        let mut attempts = Attempts::new(ready, request, self.copy.clone(), stack.retries());
        let rules = self.rules.to_rules();
        Box::pin(async move {
            let can_repeat = AtomicBool::new(true);
            let attempt = |last| {
                let attempt = attempts.next(last);
                // After the last one the retry ends by itself, and counts as it does everywhere.
                can_repeat.store(last || attempts.can_repeat(), Ordering::Relaxed);
                attempt.make()
            };
            stack.call_while(&rules, attempt, || can_repeat.load(Ordering::Relaxed)).await
        })
    }
}
