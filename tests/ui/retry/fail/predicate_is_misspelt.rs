// wrong: is_timeot
// instead: similarly named function `is_timeout`

use resilience::{Error, retry};

#[retry(retry_if = is_timeot)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn is_timeout(_: &Error) -> bool {
    true
}

fn main() {}
