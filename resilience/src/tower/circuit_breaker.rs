use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tower_layer::Layer;
use tower_service::Service;

use super::{NoRules, ToRules, by_name::constructors, to_rules::judging};
use crate::{
    CallError, CallNotPermitted, CircuitBreaker,
    circuit_breaker::{Permit, Report},
    trace::{CallSpan, Named},
};

/// Cuts off a service that fails or crawls too often.
///
/// # Examples
///
/// ```
/// use resilience::{CallError, CircuitBreaker, CircuitBreakerConfig, tower::CircuitBreakerLayer};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let breaker = CircuitBreaker::new("disk", CircuitBreakerConfig::default());
/// let layer = CircuitBreakerLayer::new(breaker.clone()).kinds();
/// let read = layer.layer(service_fn(|path: &'static str| async move { std::fs::read(path) }));
/// assert!(matches!(read.oneshot("/no/such/file").await, Err(CallError::Inner(_))));
/// assert_eq!(breaker.metrics().failed_calls, 1);
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CircuitBreakerLayer<C = NoRules> {
    instance: CircuitBreaker,
    rules: C,
}

impl CircuitBreakerLayer {
    constructors!(CircuitBreaker, "a circuit breaker"; rules: NoRules);
}

impl<C> CircuitBreakerLayer<C> {
    judging!(CircuitBreakerLayer<>; instance);
}

impl<S, C: Clone> Layer<S> for CircuitBreakerLayer<C> {
    type Service = CircuitBreakerService<S, C>;

    fn layer(&self, inner: S) -> Self::Service {
        let (breaker, rules) = (self.instance.clone(), self.rules.clone());
        CircuitBreakerService { inner, breaker, rules }
    }
}

/// A service behind a [`CircuitBreakerLayer`].
#[derive(Debug, Clone)]
pub struct CircuitBreakerService<S, C = NoRules> {
    inner: S,
    breaker: CircuitBreaker,
    rules: C,
}

impl<S, C, R> Service<R> for CircuitBreakerService<S, C>
where
    S: Service<R>,
    C: ToRules<S::Response, S::Error>,
{
    type Response = S::Response;
    type Error = CallError<S::Error>;
    type Future = CircuitBreakerFuture<S::Future, C>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(CallError::Inner)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let mut span = CallSpan::start(|| self.breaker.names());
        let stage = span.run_body(|| self.begin(request));
        CircuitBreakerFuture { stage, span }
    }
}

impl<S, C: Clone> CircuitBreakerService<S, C> {
    fn begin<R>(&mut self, request: R) -> Stage<S::Future, C>
    where
        S: Service<R>,
    {
        match self.breaker.try_acquire() {
            Ok(permit) => {
                let mut watch = Watch::new(permit);
                let call = watch.run(|| self.inner.call(request));
                Stage::Running { call, watch: Some(watch), rules: self.rules.clone() }
            }
            Err(refused) => Stage::Refused { refused: Some(refused) },
        }
    }
}

/// A permit that tells a panic of the call from one that is dropped.
#[derive(Debug)]
struct Watch {
    permit: Option<Permit>,
    is_running: bool,
}

impl Watch {
    fn new(permit: Permit) -> Self {
        Self { permit: Some(permit), is_running: false }
    }

    /// Runs a part of the call.
    fn run<A>(&mut self, part: impl FnOnce() -> A) -> A {
        self.is_running = true;
        let answer = part();
        self.is_running = false;
        answer
    }

    fn end<T, E>(mut self, outcome: &Result<T, CallError<E>>, rules: &impl ToRules<T, E>) {
        let Some(permit) = &self.permit else { return };
        // The rules are the user's and may panic: the permit stays in its place meanwhile.
        let report = rules.to_rules().report(outcome, || permit.breaker().config());
        if let Some(permit) = self.permit.take() {
            permit.report(report);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take().filter(|_| self.is_running) {
            permit.report(Report::panic());
        }
    }
}

pin_project_lite::pin_project! {
    /// The answer of a [`CircuitBreakerService`].
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the call; nothing is counted, and a probe's place is free again.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct CircuitBreakerFuture<F, C> {
        #[pin]
        stage: Stage<F, C>,
        span: CallSpan,
    }
}

pin_project_lite::pin_project! {
    #[project = At]
    #[derive(Debug)]
    enum Stage<F, C> {
        Refused { refused: Option<CallNotPermitted> },
        // The call goes before its permit: the next probe must not find it still running.
        Running { #[pin] call: F, watch: Option<Watch>, rules: C },
    }
}

impl<F, C, T, E> Future for Stage<F, C>
where
    F: Future<Output = Result<T, E>>,
    C: ToRules<T, E>,
{
    type Output = Result<T, CallError<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            At::Refused { refused } => match refused.take() {
                Some(refused) => Poll::Ready(Err(CallError::Resilience(refused.into()))),
                None => Poll::Pending,
            },
            At::Running { call, watch, rules } => {
                let Some(watched) = watch else { return Poll::Pending };
                let outcome = ready!(watched.run(|| call.poll(cx))).map_err(CallError::Inner);
                if let Some(watched) = watch.take() {
                    watched.end(&outcome, rules);
                }
                Poll::Ready(outcome)
            }
        }
    }
}

impl<F, C, T, E> Future for CircuitBreakerFuture<F, C>
where
    F: Future<Output = Result<T, E>>,
    C: ToRules<T, E>,
{
    type Output = Result<T, CallError<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.span.poll_call(this.stage, cx)
    }
}
