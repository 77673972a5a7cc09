// wrong: 200
// instead: such as 500ms, 2s or 1m30s, as a string

use resilience::{Error, retry};

#[retry(wait_duration = 200)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
