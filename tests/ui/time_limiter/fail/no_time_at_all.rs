// wrong: "0s"
// instead: a duration of at least 1ns

use resilience::{Error, time_limiter};

#[time_limiter(timeout_duration = "0s")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
