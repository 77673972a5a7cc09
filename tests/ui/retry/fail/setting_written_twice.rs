// wrong: max_attempts
// instead: keep one of them

use resilience::{Error, retry};

#[retry(max_attempts = 3, name = "a", max_attempts = 4)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
