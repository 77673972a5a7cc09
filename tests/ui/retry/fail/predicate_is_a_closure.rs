// wrong: |_| true
// instead: give this one a name

use resilience::{Error, retry};

#[retry(retry_if = |_| true)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
