// wrong: deadline
// instead: it belongs to `retry` and `time_limiter`

use resilience::{Error, bulkhead};

#[bulkhead(deadline)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
