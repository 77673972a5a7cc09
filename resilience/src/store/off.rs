//! In the place of a store where the feature `redis` is off: there is never one.

#[path = "regular.rs"]
mod regular;

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

pub(crate) use regular::{Regular, Turn, tell};
use tokio::task::JoinHandle;

/// None. The compiler does not look in here: what uses one is no dead code to it.
#[derive(Debug, Clone)]
pub(crate) struct Store(Infallible);

pub(crate) type Reply = Vec<Part>;

#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(dead_code)] // nobody makes one
pub(crate) enum Part {
    Nothing,
    Number(i64),
    Text(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undecided {
    pub(crate) rests_for: Option<Duration>,
}

/// None.
pub(crate) struct Answer(Infallible);

impl Future for Answer {
    type Output = Result<Reply, Undecided>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        match self.0 {}
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key(Infallible);

pub(crate) struct Script;

pub(crate) static FIXED_WINDOW: Script = Script;
pub(crate) static GCRA: Script = Script;
pub(crate) static BREAKER: Script = Script;
pub(crate) static OWN: Script = Script;
pub(crate) static DISOWN: Script = Script;

impl Store {
    pub(crate) fn key(&self, _: &str, _: &str, _: Option<&str>) -> Key {
        match self.0 {}
    }

    pub(crate) fn decision_timeout(&self) -> Duration {
        match self.0 {}
    }

    pub(crate) fn due(&self) -> Instant {
        match self.0 {}
    }

    pub(crate) fn decide(&self, _: &'static Script, _: &Key, _: Vec<String>) -> Answer {
        match self.0 {}
    }

    pub(crate) fn decide_before(
        &self,
        _: Instant,
        _: &'static Script,
        _: &Key,
        _: Vec<String>,
    ) -> Answer {
        match self.0 {}
    }

    pub(crate) fn run<T>(&self, _: impl Future<Output = T>) -> JoinHandle<T> {
        match self.0 {}
    }

    pub(crate) fn every(&self, regular: impl Regular) {
        drop(regular::repeat(regular));
        match self.0 {}
    }

    pub(crate) fn nodes(&self) -> u32 {
        match self.0 {}
    }

    pub(crate) fn note_garbage(&self) {
        match self.0 {}
    }
}
