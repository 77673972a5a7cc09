//! Above the attributes, `#[tokio::main]` hands them a sync function that waits for an async block.

use std::sync::atomic::{AtomicU32, Ordering};

use resilience::{Error, circuit_breaker, retry};

static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
enum Failure {
    Down,
    Refused,
}

impl From<Error> for Failure {
    fn from(_: Error) -> Self {
        Self::Refused
    }
}

#[tokio::main]
#[retry(max_attempts = 3, wait_duration = "0ms")]
#[circuit_breaker]
async fn main() -> Result<(), Failure> {
    if ATTEMPTS.fetch_add(1, Ordering::Relaxed) < 2 {
        return Err(Failure::Down);
    }
    Ok(())
}
