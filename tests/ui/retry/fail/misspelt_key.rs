// wrong: max_attemps
// instead: did you mean `max_attempts`?

use resilience::{Error, retry};

#[retry(max_attemps = 5)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
