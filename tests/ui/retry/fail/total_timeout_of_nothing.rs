// wrong: "0ms"
// instead: a duration of at least 1ms

use resilience::{Error, retry};

#[retry(total_timeout = "0ms")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
