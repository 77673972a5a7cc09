// wrong: "5 parsecs"
// instead: such as 500ms, 2s or 1m30s

use resilience::{Error, retry};

#[retry(wait_duration = "5 parsecs")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
