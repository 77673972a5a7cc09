// wrong: 0
// instead: a whole number from 1

use resilience::{Error, rate_limiter};

#[rate_limiter(permits = 0)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
