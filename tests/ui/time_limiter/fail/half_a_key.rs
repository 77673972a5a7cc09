// wrong: timeout
// instead: did you mean `timeout_duration`?

use resilience::{Error, time_limiter};

#[time_limiter(timeout = "2s")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
