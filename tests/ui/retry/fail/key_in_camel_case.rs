// wrong: maxAttempts
// instead: this key is written `max_attempts`

use resilience::{Error, retry};

#[retry(maxAttempts = 5)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
