// wrong: 1
// instead: true or false

use resilience::{Error, retry};

#[retry(enable_exponential_backoff = 1)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
