use std::{convert::identity, fmt, ops::Deref};

use super::{
    Stack,
    fallback::{Fallback, FirstOf},
};
use crate::{
    __private::{Distinct, Lend, PerAttempt, Response, Same, Slot},
    Error, Rules,
    context::{Context, carry},
    error::CallError,
};

/// Calls through a [`Stack`] that return `Result<T, E>`, from [`Stack::protect`].
///
/// What it can do is mostly [`Unanswered`]'s, which it stands for. It exists because a fallback that
/// takes [`Error`] handles refusals, also where `E` itself is [`Error`].
pub struct Protected<T, E> {
    calls: Unanswered<T, E>,
}

/// Protected calls that have no fallback.
pub struct Unanswered<T, E> {
    stack: Stack,
    rules: Rules<T, E>,
}

/// Protected calls with a fallback; `Identity` is a matter of the library.
pub struct WithFallback<T, E, F, Identity> {
    calls: Unanswered<T, E>,
    /// Whether each call has an idempotency key: the fallback has it too, so it is made here.
    keyed: bool,
    fallback: F,
    identity: Identity,
}

impl<T, E> Protected<T, E> {
    pub(super) fn new(stack: Stack) -> Self {
        Self { calls: Unanswered { stack, rules: Rules::new() } }
    }

    /// Which outcomes count as failures and are retried; without, every error.
    ///
    /// [`Rules::kinds`] takes the kinds of errors from [`ErrorKind`](crate::ErrorKind), as annotated
    /// functions do by themselves.
    #[must_use]
    pub fn rules(mut self, rules: Rules<T, E>) -> Self {
        self.calls.rules = rules;
        self
    }
}

impl<T> Protected<T, Error> {
    /// As [`Unanswered::fallback`]; a fallback that takes [`Error`] handles this stack's refusals, not
    /// the errors of what it calls.
    #[must_use]
    pub fn fallback<F>(&self, fallback: F) -> WithFallback<T, Error, F, Same> {
        WithFallback::new(&self.calls, fallback, Same)
    }
}

impl<T, E> Deref for Protected<T, E> {
    type Target = Unanswered<T, E>;

    fn deref(&self) -> &Unanswered<T, E> {
        &self.calls
    }
}

impl<T, E> Unanswered<T, E> {
    /// Adds a fallback, which takes the place of the whole stack once that has failed.
    ///
    /// It returns `Result<T, E>`, sync or async, and takes the error, or the arguments of
    /// [`call_with`](WithFallback::call_with) and the error. The error's type says what it handles, as
    /// at the attributes: [`CallError<E>`](CallError) everything, [`Error`] refusals, `E` errors of
    /// the operation, [`TimedOut`](crate::TimedOut) and its like just that. What is not handled is
    /// returned as it was. Write the type of a closure's error, and name `T` and `E` at
    /// [`Stack::protect`]: what a fallback handles depends on them.
    ///
    /// Every call has a clone of the fallback; functions and most closures can be cloned.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{CallError, Error, Stack};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let calls = Stack::builder().build().protect::<u32, String>();
    /// let zero = calls.fallback(|_error: String| Ok(0));
    /// assert_eq!(zero.call(|| async { Err("no number".to_owned()) }).await, Ok(0));
    ///
    /// let refusals_only = calls.fallback(async |_refusal: Error| Ok(0));
    /// let result = refusals_only.call(|| async { Err("no number".to_owned()) }).await;
    /// assert_eq!(result, Err(CallError::Inner("no number".to_owned())));
    /// # }
    /// ```
    #[must_use]
    pub fn fallback<F>(&self, fallback: F) -> WithFallback<T, E, F, Distinct> {
        WithFallback::new(self, fallback, Distinct)
    }

    /// Makes a call; `operation` is called once per attempt.
    ///
    /// # Errors
    ///
    /// As [`Stack::call`].
    ///
    /// # Panics
    ///
    /// As [`Stack::call`].
    ///
    /// # Cancel safety
    ///
    /// As [`Stack::call`].
    pub async fn call<F>(&self, operation: impl FnMut() -> F) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        self.stack.call_by(&self.rules, operation).await
    }

    /// Makes a call with arguments, as [`Stack::call_with`].
    ///
    /// # Errors
    ///
    /// As [`Stack::call`].
    ///
    /// # Panics
    ///
    /// As [`Stack::call`].
    ///
    /// # Cancel safety
    ///
    /// As [`Stack::call`].
    pub async fn call_with<A, F>(
        &self,
        arguments: A,
        mut operation: impl FnMut(A) -> F,
    ) -> Result<T, CallError<E>>
    where
        A: Clone,
        F: Future<Output = Result<T, E>>,
    {
        let mut slot = Slot::new(arguments);
        self.stack.run(&self.rules, |last| operation(PerAttempt.lend(&mut slot, last))).await
    }
}

impl<T, E, F, Identity> WithFallback<T, E, F, Identity> {
    fn new(calls: &Unanswered<T, E>, fallback: F, identity: Identity) -> Self {
        let (stack, keyed) = calls.stack.without_keys();
        Self { calls: Unanswered { stack, rules: calls.rules }, keyed, fallback, identity }
    }

    /// Adds a fallback for what the ones before it do not handle.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{BulkheadFull, CallNotPermitted, Stack};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let calls = Stack::builder().build().protect::<u32, String>();
    /// let calls = calls.fallback(|_: CallNotPermitted| Ok(0)).fallback(|_: BulkheadFull| Ok(1));
    /// assert_eq!(calls.call(|| async { Ok(7) }).await, Ok(7));
    /// # }
    /// ```
    #[must_use]
    pub fn fallback<G>(self, next: G) -> WithFallback<T, E, FirstOf<F, G>, Identity> {
        let Self { calls, keyed, fallback, identity } = self;
        WithFallback { calls, keyed, fallback: FirstOf::new(fallback, next), identity }
    }

    /// Makes a call; `operation` is called once per attempt, the fallback after the last one.
    ///
    /// # Errors
    ///
    /// The fallback's error as [`CallError::Inner`], or what no fallback handles, as it was.
    ///
    /// # Panics
    ///
    /// As [`Stack::call`], and when the fallback panics. A panic of `operation` reaches no fallback.
    ///
    /// # Cancel safety
    ///
    /// As [`Stack::call`]; while the fallback runs, nothing is held.
    pub async fn call<O, M>(&self, mut operation: impl FnMut() -> O) -> Result<T, CallError<E>>
    where
        O: Future<Output = Result<T, E>>,
        F: Fallback<(), T, E, Identity, M>,
    {
        self.call_with((), |()| operation()).await
    }

    /// Makes a call with arguments, as [`Stack::call_with`]; the fallback may take them too. Every
    /// attempt has a clone if it does.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Panics
    ///
    /// As [`call`](Self::call).
    ///
    /// # Cancel safety
    ///
    /// As [`call`](Self::call).
    pub async fn call_with<A, O, M>(
        &self,
        arguments: A,
        operation: impl FnMut(A) -> O,
    ) -> Result<T, CallError<E>>
    where
        A: Clone,
        O: Future<Output = Result<T, E>>,
        F: Fallback<A, T, E, Identity, M>,
    {
        let context = self.keyed.then(Context::of_new_call);
        carry(context, self.call_and_respond(arguments, operation)).await
    }

    async fn call_and_respond<A, O, M>(
        &self,
        arguments: A,
        mut operation: impl FnMut(A) -> O,
    ) -> Result<T, CallError<E>>
    where
        A: Clone,
        O: Future<Output = Result<T, E>>,
        F: Fallback<A, T, E, Identity, M>,
    {
        let Unanswered { stack, rules } = &self.calls;
        let mut slot = Slot::new(arguments);
        let attempt = |last| operation(PerAttempt.lend(&mut slot, last && !F::TAKES_ARGUMENTS));
        // Moved as a whole: a result that is only taken apart would be kept while the fallback runs.
        let error = match identity(stack.run(rules, attempt).await) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let answer = match self.fallback.clone().respond(slot, error) {
            Response::Ready(result) => return result.map_err(CallError::Inner),
            Response::Pending(answer) => answer,
            Response::Unhandled(error) => return Err(error),
        };
        answer.await.map_err(CallError::Inner)
    }
}

// By hand: a derive would ask for `T: Clone` and `E: Clone`.
impl<T, E> Clone for Protected<T, E> {
    fn clone(&self) -> Self {
        Self { calls: self.calls.clone() }
    }
}

impl<T, E> Clone for Unanswered<T, E> {
    fn clone(&self) -> Self {
        Self { stack: self.stack.clone(), rules: self.rules }
    }
}

impl<T, E, F: Clone, Identity: Copy> Clone for WithFallback<T, E, F, Identity> {
    fn clone(&self) -> Self {
        Self {
            calls: self.calls.clone(),
            keyed: self.keyed,
            fallback: self.fallback.clone(),
            identity: self.identity,
        }
    }
}

impl<T, E> fmt::Debug for Protected<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.calls, f)
    }
}

impl<T, E> fmt::Debug for Unanswered<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stack, rules } = self;
        f.debug_struct("Protected").field("stack", stack).field("rules", rules).finish()
    }
}

impl<T, E, F, Identity> fmt::Debug for WithFallback<T, E, F, Identity> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unanswered { stack, rules } = &self.calls;
        f.debug_struct("WithFallback")
            .field("stack", stack)
            .field("rules", rules)
            .finish_non_exhaustive()
    }
}
