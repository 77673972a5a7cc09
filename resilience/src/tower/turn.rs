//! The future of a call that may have to wait for its turn.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tower_service::Service;

use crate::{CallError, Error};

pin_project_lite::pin_project! {
    /// A call that was refused, that waits for its turn, or that runs and holds what the turn gave.
    #[project = At]
    pub(super) enum Turn<W, P, S, R, F> {
        Refused { error: Option<Error> },
        Waiting { #[pin] wait: W, call: Option<(S, R)> },
        // The call goes before its place: whoever gets that next must not find it still running.
        Running { #[pin] call: F, place: Option<P> },
    }
}

impl<W, P, S: Service<R>, R> Turn<W, P, S, R, S::Future> {
    pub(super) fn refused(error: impl Into<Error>) -> Self {
        Turn::Refused { error: Some(error.into()) }
    }

    pub(super) fn waiting(wait: W, service: S, request: R) -> Self {
        Turn::Waiting { wait, call: Some((service, request)) }
    }

    pub(super) fn running(place: P, call: S::Future) -> Self {
        Turn::Running { call, place: Some(place) }
    }
}

impl<W, P, S, R, E> Future for Turn<W, P, S, R, S::Future>
where
    W: Future<Output = Result<P, E>>,
    S: Service<R>,
    E: Into<Error>,
{
    type Output = Result<S::Response, CallError<S::Error>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let (place, service, request) = match self.as_mut().project() {
                At::Refused { error } => {
                    return error
                        .take()
                        .map_or(Poll::Pending, |error| Poll::Ready(Err(error.into())));
                }
                At::Running { call, place } => {
                    let answer = ready!(call.poll(cx));
                    *place = None;
                    return Poll::Ready(answer.map_err(CallError::Inner));
                }
                At::Waiting { wait, call } => {
                    let turn = ready!(wait.poll(cx));
                    let Some((service, request)) = call.take() else { return Poll::Pending };
                    match turn {
                        Ok(place) => (place, service, request),
                        Err(refused) => return Poll::Ready(Err(refused.into().into())),
                    }
                }
            };
            let mut service = service;
            let call = service.call(request);
            self.set(Self::running(place, call));
        }
    }
}
