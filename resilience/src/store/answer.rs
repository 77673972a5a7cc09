use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use redis::Value;
use tokio::sync::oneshot;

use super::StoreFailure;

/// What a script says: always a list.
pub(crate) type Reply = Vec<Part>;

/// One thing that a script says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Nothing,
    Number(i64),
    Text(Vec<u8>),
}

pub(super) fn read(value: Value) -> Result<Reply, StoreFailure> {
    let Value::Array(values) = value else { return Err(StoreFailure::Garbage) };
    values
        .into_iter()
        .map(|value| match value {
            Value::Nil => Ok(Part::Nothing),
            Value::Int(number) => Ok(Part::Number(number)),
            Value::BulkString(text) => Ok(Part::Text(text)),
            _ => Err(StoreFailure::Garbage),
        })
        .collect()
}

/// There is no decision of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undecided {
    /// For how long the store is not asked, if that is known.
    pub(crate) rests_for: Option<Duration>,
}

/// What comes of a decision that was asked for: within the decision's time, whoever drives the
/// program's runtimes.
///
/// # Cancel safety
///
/// Dropped, the decision may be carried out or not; the guard hears of its end in any case.
pub(crate) struct Answer(State);

enum State {
    Undecided(Undecided),
    Asked(oneshot::Receiver<Result<Reply, StoreFailure>>),
}

impl Answer {
    pub(super) fn undecided(rests_for: Option<Duration>) -> Self {
        Self(State::Undecided(Undecided { rests_for }))
    }

    pub(super) fn asked(receiver: oneshot::Receiver<Result<Reply, StoreFailure>>) -> Self {
        Self(State::Asked(receiver))
    }
}

impl Future for Answer {
    type Output = Result<Reply, Undecided>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Undecided(undecided) => Poll::Ready(Err(*undecided)),
            State::Asked(receiver) => Pin::new(receiver).poll(cx).map(|answer| match answer {
                Ok(Ok(reply)) => Ok(reply),
                // Or the task that had to answer has panicked.
                Ok(Err(_)) | Err(_) => Err(Undecided { rests_for: None }),
            }),
        }
    }
}
