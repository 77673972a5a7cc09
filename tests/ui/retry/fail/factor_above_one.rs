// wrong: 1.5
// instead: a number of at least 0 and below 1

use resilience::{Error, retry};

#[retry(randomized_wait_factor = 1.5)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
