// wrong: colour
// instead: it has `name`, `key`

use resilience::{Error, rate_limiter};

#[rate_limiter(colour = "red")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
