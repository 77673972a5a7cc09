// wrong: fallbackMethod
// instead: did you mean `fallback`?

use resilience::{Error, retry};

#[retry(fallbackMethod = "later")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
