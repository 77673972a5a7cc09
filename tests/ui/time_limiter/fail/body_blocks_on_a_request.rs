// wrong: blocking
// instead: write `reqwest::Client` and `.await`

#![deny(deprecated)]

use resilience::{Error, circuit_breaker, time_limiter};

mod reqwest {
    pub mod blocking {
        pub fn get(url: &str) -> usize {
            url.len()
        }
    }
}

#[circuit_breaker]
#[time_limiter]
async fn page(url: &str) -> Result<usize, Error> {
    Ok(reqwest::blocking::get(url))
}

fn main() {}
