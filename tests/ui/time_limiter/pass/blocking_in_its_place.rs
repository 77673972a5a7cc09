//! Blocking that a time limiter can bound, or that it has nothing to do with, is no mistake.
#![deny(warnings)]

use std::{thread, time::Duration};

use resilience::{Error, bulkhead, circuit_breaker, time_limiter};

const WAIT: Duration = Duration::from_millis(1);

// A thread pool is there for it.
#[time_limiter]
#[bulkhead(type = "thread_pool")]
fn pooled() -> Result<u32, Error> {
    thread::sleep(WAIT);
    Ok(1)
}

// The caller does not wait for the body.
#[time_limiter(detach)]
async fn detached() -> Result<u32, Error> {
    thread::sleep(WAIT);
    Ok(1)
}

// Nobody promised a time.
#[circuit_breaker]
async fn unbounded() -> Result<u32, Error> {
    thread::sleep(WAIT);
    Ok(1)
}

// On a thread of its own.
#[time_limiter]
async fn elsewhere() -> Result<u32, Error> {
    let slept = tokio::task::spawn_blocking(|| thread::sleep(WAIT)).await;
    Ok(u32::from(slept.is_ok()))
}

mod own {
    pub mod thread {
        pub async fn sleep(_: std::time::Duration) {}
    }
}

// What is awaited is another function of that name.
#[time_limiter]
async fn called_alike() -> Result<u32, Error> {
    use own::thread;
    thread::sleep(WAIT).await;
    Ok(1)
}

// As any other warning, where it is.
#[time_limiter]
async fn silenced() -> Result<u32, Error> {
    #[allow(deprecated, reason = "it is short")]
    thread::sleep(WAIT);
    Ok(1)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(pooled().await.unwrap(), 1);
    assert_eq!(detached().await.unwrap(), 1);
    assert_eq!(unbounded().await.unwrap(), 1);
    assert_eq!(elsewhere().await.unwrap(), 1);
    assert_eq!(called_alike().await.unwrap(), 1);
    assert_eq!(silenced().await.unwrap(), 1);
}
