// wrong: std::time::Duration::from_secs(2)
// instead: such as 500ms, 2s or 1m30s, as a string

use resilience::{Error, time_limiter};

#[time_limiter(timeout_duration = std::time::Duration::from_secs(2))]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
