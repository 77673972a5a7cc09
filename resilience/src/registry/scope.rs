use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinHandle;

use super::Resilience;

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

    /// Spawns a task that runs in this registry's scope.
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
        tokio::spawn(async move { registry.scope(future).await })
    }
}

/// The registry of the scope that the present task is in.
pub(super) fn current() -> Option<Resilience> {
    if EVER.load(Ordering::Relaxed) { SCOPE.try_with(Resilience::clone).ok() } else { None }
}

/// Takes the present scope along into a task of the future's own.
pub(crate) fn in_present_scope<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let registry = current();
    async move {
        match registry {
            Some(registry) => registry.scope(future).await,
            None => future.await,
        }
    }
}
