use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinHandle;

use super::Resilience;
use crate::context::{Context, carry};

tokio::task_local! {
    static SCOPE: Resilience;
}

/// Whether any scope was ever entered: a program without scopes pays one load for them.
static EVER: AtomicBool = AtomicBool::new(false);

impl Resilience {
    /// Runs `future` with this registry in the place of the process registry.
    ///
    /// Annotated functions called by it, however deep, use this registry's instances. The scope
    /// does not cross a bare `tokio::spawn`: use [`spawn`](Resilience::spawn) for that.
    ///
    /// # Cancel safety
    ///
    /// As safe as `future` itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), resilience::ConfigError> {
    /// let registry = Resilience::from_config(Config::default())?;
    /// let answer = registry.scope(async { 42 }).await;
    /// assert_eq!(answer, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn scope<F: Future>(&self, future: F) -> F::Output {
        EVER.store(true, Ordering::Relaxed);
        SCOPE.scope(self.clone(), future).await
    }

    /// Runs `function` with this registry in the place of the process registry.
    ///
    /// Futures that it makes are in the scope only while they are polled inside of it.
    pub fn scope_sync<R>(&self, function: impl FnOnce() -> R) -> R {
        EVER.store(true, Ordering::Relaxed);
        SCOPE.sync_scope(self.clone(), function)
    }

    /// The registry of the present scope, else the process registry: where calls find instances.
    pub(crate) fn present() -> Self {
        current().unwrap_or_else(super::global)
    }

    /// Spawns a task that runs in this registry's scope, and under the [deadline](crate::deadline)
    /// that the caller is under.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let registry = self.clone();
        let context = Context::present();
        tokio::spawn(async move { registry.scope(carry(context, future)).await })
    }
}

/// The registry of the scope that the present task is in.
pub(super) fn current() -> Option<Resilience> {
    if EVER.load(Ordering::Relaxed) { SCOPE.try_with(Resilience::clone).ok() } else { None }
}

/// Whether the present task is in a scope.
#[inline]
pub(super) fn is_present() -> bool {
    EVER.load(Ordering::Relaxed) && SCOPE.try_with(|_| ()).is_ok()
}

/// Takes the present scope, context and span along into a task of the future's own.
pub(crate) fn in_present_scope<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let registry = current();
    let future = carry(Context::present(), future);
    span::in_present(async move {
        match registry {
            Some(registry) => registry.scope(future).await,
            None => future.await,
        }
    })
}

/// Takes the present scope, context and span along to another thread.
pub(crate) fn in_present_scope_sync<R>(function: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let registry = current();
    let context = Context::present();
    let function = move || match context {
        Some(context) => context.enter(function),
        None => function(),
    };
    span::in_present_sync(move || match registry {
        Some(registry) => registry.scope_sync(function),
        None => function(),
    })
}

#[cfg(feature = "tracing")]
mod span {
    use tracing::{Instrument, Span};

    pub(super) fn in_present<F: Future>(future: F) -> impl Future<Output = F::Output> {
        future.in_current_span()
    }

    pub(super) fn in_present_sync<R>(function: impl FnOnce() -> R) -> impl FnOnce() -> R {
        let span = Span::current();
        move || span.in_scope(function)
    }
}

#[cfg(not(feature = "tracing"))]
mod span {
    pub(super) fn in_present<F>(future: F) -> F {
        future
    }

    pub(super) fn in_present_sync<F>(function: F) -> F {
        function
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, ThreadPoolBulkhead, ThreadPoolBulkheadConfig};

    fn present() -> Option<String> {
        current().map(|registry| format!("{:p}", std::sync::Arc::as_ptr(&registry.inner)))
    }

    #[tokio::test]
    async fn a_call_on_a_thread_pool_runs_in_the_scope_of_its_caller() {
        let registry = Resilience::from_config(Config::default()).unwrap();
        let pool = ThreadPoolBulkhead::new("reports", ThreadPoolBulkheadConfig::default());
        let (here, there) =
            registry.scope(async { (present(), pool.call(|| Ok::<_, ()>(present())).await) }).await;
        assert!(here.is_some());
        assert_eq!(there, Ok(here));
        assert_eq!(pool.call(|| Ok::<_, ()>(present())).await, Ok(None), "the thread kept nothing");
    }

    #[cfg(feature = "tracing")]
    mod spans {
        use std::{
            sync::{Arc, Mutex},
            thread::{self, ThreadId},
        };

        use tracing::{Instrument, Span, Subscriber, info_span, span::Id, subscriber::set_default};
        use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt, registry};

        use super::*;
        use crate::stack::{Handle, Pass};

        fn present_span() -> Option<&'static str> {
            Span::current().metadata().map(tracing::Metadata::name)
        }

        #[tokio::test]
        async fn a_detached_call_runs_in_its_span() {
            let _default = set_default(registry());
            let call = async {
                let mut pass = Pass::new(Handle::Shared(Arc::default()));
                pass.protect_detached(async { Ok::<_, ()>(present_span()) }).await
            };
            let there = call.instrument(info_span!("order")).await;
            assert_eq!(there, Ok(Some("protected_call")));
        }

        /// Notes which threads enter a span.
        #[derive(Clone, Default)]
        struct Entries(Arc<Mutex<Vec<ThreadId>>>);

        impl<S: Subscriber> Layer<S> for Entries {
            fn on_enter(&self, _: &Id, _: Context<'_, S>) {
                self.0.lock().unwrap().push(thread::current().id());
            }
        }

        #[tokio::test]
        async fn a_call_on_a_thread_pool_runs_in_the_span_of_its_caller() {
            let entries = Entries::default();
            let _default = set_default(registry().with(entries.clone()));
            let pool = ThreadPoolBulkhead::new("reports", ThreadPoolBulkheadConfig::default());
            let call = pool.call(|| Ok::<_, ()>(thread::current().id()));
            let thread = call.instrument(info_span!("order")).await.unwrap();
            assert!(entries.0.lock().unwrap().contains(&thread));
        }
    }
}
