// wrong: 3u32
// instead: without `u32`

use resilience::{Error, retry};

#[retry(max_attempts = 3u32)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
