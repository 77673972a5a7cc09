// wrong: "timeout"
// instead: such as ["timeout", "io"]

use resilience::{Error, retry};

#[retry(retry_errors = "timeout")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
