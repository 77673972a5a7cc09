// wrong: keyed
// instead: did you mean `key`?

use resilience::{Error, rate_limiter};

#[rate_limiter(keyed = tenant)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
