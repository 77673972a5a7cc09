use std::time::Duration;

use tracing::{Level, level_filters::LevelFilter};

use super::RetryEventKind;
use crate::harmless::harmless;

/// Writes to the log that an attempt failed and another one comes.
#[inline]
pub(super) fn retries(name: &str, kind: &RetryEventKind) {
    if Level::DEBUG <= LevelFilter::current()
        && let RetryEventKind::Retry { attempts, wait, error } = *kind
    {
        write(name, attempts, wait, error);
    }
}

#[cold]
#[inline(never)]
fn write(name: &str, attempt: u32, wait: Duration, error: Option<&'static str>) {
    harmless(|| {
        tracing::debug!(
            target: "resilience::retry",
            retry = name,
            attempt,
            ?wait,
            error,
            "attempt failed, another one comes after a wait"
        );
    });
}
