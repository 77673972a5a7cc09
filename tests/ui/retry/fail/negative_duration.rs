// wrong: "-1s"
// instead: such as 500ms, 2s or 1m30s

use resilience::{Error, retry};

#[retry(wait_duration = "-1s")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
