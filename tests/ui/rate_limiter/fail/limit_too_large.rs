// wrong: 5_000_000_000
// instead: a whole number from 1 to 4294967295

use resilience::{Error, rate_limiter};

#[rate_limiter(limit_for_period = 5_000_000_000)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
