//! The attempts that one request may take.

use std::future::poll_fn;

use tower_service::Service;

use super::Repeat;

/// A service and a request for each attempt.
pub(super) struct Attempts<S, R, C> {
    first: Option<(S, R)>,
    /// What further attempts are copied from.
    spare: Option<(S, R)>,
    repeat: C,
}

impl<S: Clone, R, C: Repeat<R>> Attempts<S, R, C> {
    /// `ready` is the service that was polled ready; without `again` the request is not copied.
    pub(super) fn new(ready: S, request: R, repeat: C, again: bool) -> Self {
        let copy = if again { repeat.repeat(&request) } else { None };
        let spare = copy.map(|copy| (ready.clone(), copy));
        Self { first: Some((ready, request)), spare, repeat }
    }

    /// Whether there is one attempt at most.
    pub(super) fn is_single(&self) -> bool {
        self.spare.is_none()
    }

    pub(super) fn next(&mut self) -> Attempt<S, R> {
        if let Some((service, request)) = self.first.take() {
            return Attempt { service, request, is_ready: true };
        }
        let (service, request) = self.spare.as_ref().expect("a call of one attempt is not retried");
        let request = self.repeat.repeat(request);
        let request = request.expect(
            "`clone_request` copied this request before, and then gave `None` for the copy; \
             it must decide for a request once",
        );
        Attempt { service: service.clone(), request, is_ready: false }
    }
}

/// One attempt, not yet made.
pub(super) struct Attempt<S, R> {
    service: S,
    request: R,
    is_ready: bool,
}

impl<S: Service<R>, R> Attempt<S, R> {
    pub(super) async fn make(mut self) -> Result<S::Response, S::Error> {
        if !self.is_ready {
            poll_fn(|cx| self.service.poll_ready(cx)).await?;
        }
        self.service.call(self.request).await
    }
}
