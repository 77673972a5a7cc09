//! Functions whose instances `resilience.yaml` declares, as Cargo.toml says: that this compiles is a test.

use std::sync::atomic::{AtomicU32, Ordering};

use resilience::{Error, bulkhead, circuit_breaker, rate_limiter, retry, time_limiter};

/// Names every attribute's instance, one of them in another spelling.
///
/// # Errors
///
/// Always: it counts how often it was called.
#[retry(name = "payment")]
#[circuit_breaker(name = "paymentCb")]
#[time_limiter(name = "payment")]
pub async fn pay(calls: &AtomicU32) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err("declined".into())
}

/// Is named like its instance, which has a value that is known only where the program runs.
///
/// # Errors
///
/// None of its own.
#[retry]
pub async fn stock() -> Result<u32, Error> {
    Ok(1)
}

/// Names an instance of each further pattern.
///
/// # Errors
///
/// None of its own.
#[rate_limiter(name = "search")]
#[bulkhead(name = "reports")]
pub async fn report() -> Result<u32, Error> {
    Ok(2)
}

/// Runs on the pool that is declared.
///
/// # Errors
///
/// None of its own.
#[bulkhead(name = "render", type = "thread_pool")]
pub fn render() -> Result<u32, Error> {
    Ok(3)
}

/// Declares its instance by settings of its own, on a base of the file.
///
/// # Errors
///
/// None of its own.
#[retry(name = "undeclared", base_config = "patient", max_attempts = 7)]
pub async fn inline() -> Result<u32, Error> {
    Ok(4)
}

/// Names another file.
///
/// # Errors
///
/// None of its own.
#[retry(config = "backup.yaml")]
pub async fn backup() -> Result<u32, Error> {
    Ok(5)
}
