// wrong: "three"
// instead: a whole number from 1

use resilience::{Error, retry};

#[retry(max_attempts = "three")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
