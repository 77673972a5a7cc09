// wrong: max
// instead: did you mean `max_attempts` or `max_keys`?

use resilience::{Error, retry};

#[retry(max = 2)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
