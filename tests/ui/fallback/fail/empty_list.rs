// wrong: []
// instead: name at least one fallback

use resilience::{Error, retry};

#[retry(fallback = [])]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
