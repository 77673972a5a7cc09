// wrong: ATTEMPTS
// instead: takes a literal: a whole number from 1

use resilience::{Error, retry};

const ATTEMPTS: u32 = 3;

#[retry(max_attempts = ATTEMPTS)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
