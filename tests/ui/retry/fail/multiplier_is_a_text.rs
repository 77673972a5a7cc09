// wrong: "2"
// instead: a number above 0

use resilience::{Error, retry};

#[retry(exponential_backoff_multiplier = "2")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
