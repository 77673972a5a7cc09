//! The attempts that one request may take.

use std::future::poll_fn;

use tower_service::Service;

use super::CloneRequest;

/// A service and a request for each attempt.
pub(super) struct Attempts<S, R, C> {
    first: Option<(S, R)>,
    /// What the attempt after this one sends.
    spare: Option<(S, R)>,
    copy: C,
}

impl<S: Clone, R, C: CloneRequest<R>> Attempts<S, R, C> {
    /// `ready` is the service that was polled ready; without `again` the request is not copied.
    pub(super) fn new(ready: S, request: R, copy: C, again: bool) -> Self {
        let spare = if again { copy.clone_request(&request) } else { None };
        let spare = spare.map(|request| (ready.clone(), request));
        Self { first: Some((ready, request)), spare, copy }
    }

    /// Whether there is a request for another attempt.
    pub(super) fn can_repeat(&self) -> bool {
        self.spare.is_some()
    }

    /// `last` tells that no attempt can follow, so that nothing needs to be copied for one.
    ///
    /// The copy for the next attempt is made before this one: whether there will be another is known
    /// when this one has failed, and its error is still there to end the call with.
    pub(super) fn next(&mut self, last: bool) -> Attempt<S, R> {
        if let Some((service, request)) = self.first.take() {
            return Attempt { service, request, is_ready: true };
        }
        let (service, request) = self.spare.take().expect("asked for only if it can be repeated");
        let next = if last { None } else { self.copy.clone_request(&request) };
        self.spare = next.map(|request| (service.clone(), request));
        Attempt { service, request, is_ready: false }
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
