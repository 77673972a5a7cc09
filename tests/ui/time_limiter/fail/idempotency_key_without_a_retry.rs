// wrong: idempotency_key
// instead: it belongs to `retry`

use resilience::{Error, time_limiter};

#[time_limiter(idempotency_key)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
