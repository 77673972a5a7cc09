// wrong: 0
// instead: a whole number from 1

use resilience::{Error, retry};

#[retry(max_attempts = 0)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
