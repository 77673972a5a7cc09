// wrong: name
// instead: keep one of them

use resilience::{Error, retry};

#[retry(name = "payment", name = "paymentRetry")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
