// wrong: true
// instead: write `deadline` alone, and the time as `timeout_duration = …`

use resilience::{Error, time_limiter};

#[time_limiter(timeout_duration = "2s", deadline = true)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
