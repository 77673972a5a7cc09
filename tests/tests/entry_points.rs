//! `#[tokio::test]` beside our attributes, in either order. `#[tokio::main]` is among the UI tests: there
//! is one `main` to a program.

use std::sync::atomic::{AtomicU32, Ordering};

use resilience::{Error, retry, time_limiter};

#[derive(Debug)]
struct Failure;

impl From<Error> for Failure {
    fn from(_: Error) -> Self {
        Self
    }
}

static ABOVE: AtomicU32 = AtomicU32::new(0);

#[tokio::test(start_paused = true)]
#[retry(max_attempts = 3, wait_duration = "0ms")]
#[time_limiter(timeout_duration = "10s")]
async fn a_test_below_the_runtimes_attribute_is_retried() -> Result<(), Failure> {
    tokio::task::yield_now().await;
    if ABOVE.fetch_add(1, Ordering::Relaxed) < 2 { Err(Failure) } else { Ok(()) }
}

static BELOW: AtomicU32 = AtomicU32::new(0);

#[retry(max_attempts = 3, wait_duration = "0ms")]
#[time_limiter(timeout_duration = "10s")]
#[tokio::test]
async fn a_test_above_the_runtimes_attribute_is_retried() -> Result<(), Failure> {
    tokio::task::yield_now().await;
    if BELOW.fetch_add(1, Ordering::Relaxed) < 2 { Err(Failure) } else { Ok(()) }
}
