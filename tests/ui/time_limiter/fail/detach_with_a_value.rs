// wrong: true
// instead: write `detach` alone

use resilience::{Error, time_limiter};

#[time_limiter(detach = true)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
