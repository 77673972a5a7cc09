// wrong: sleep
// instead: write `tokio::time::sleep(..).await`

#![deny(deprecated)]

use resilience::{Error, time_limiter};
use std::{thread, time::Duration};

#[time_limiter]
async fn pay(late: bool) -> Result<u32, Error> {
    if late {
        thread::sleep(Duration::from_secs(1));
    }
    // On a thread where it harms nobody.
    let paid = tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_secs(1)));
    paid.await.map_or(Ok(0), |()| Ok(1))
}

fn main() {}
