// wrong: seconds
// instead: Option<Duration>

use resilience::{Error, retry};

#[retry(retry_after = seconds)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn seconds(_: &Error) -> u64 {
    1
}

fn main() {}
