//! Without the feature `tracing` nobody watches.

use super::Names;
use crate::error::CallError;

#[derive(Debug)]
pub(crate) struct CallSpan;

#[derive(Debug, Clone, Default)]
pub(crate) struct RefusalLog(());

#[allow(clippy::unused_self, clippy::needless_pass_by_value)] // as with the feature
impl CallSpan {
    pub(crate) const fn none() -> Self {
        Self
    }

    pub(crate) fn start<'n>(_: impl FnOnce() -> Names<'n>) -> Self {
        Self
    }

    pub(crate) fn is_wanted() -> bool {
        false
    }

    pub(crate) fn is_on(&self) -> bool {
        false
    }

    pub(crate) fn enter(&mut self) {}

    pub(crate) fn leave(&mut self) {}

    pub(crate) fn again(&mut self) {}

    pub(crate) fn in_body(&mut self, _: bool) {}

    pub(crate) fn end<T, E>(&mut self, _: &Result<T, CallError<E>>) {}
}

#[allow(clippy::unused_self)] // as with the feature
impl RefusalLog {
    pub(crate) fn is_wanted() -> bool {
        false
    }

    pub(crate) fn refused(&self, _: &'static str, _: &str, _: u64) {}

    pub(crate) fn timed_out(&self, _: &str, _: u64) {}
}
