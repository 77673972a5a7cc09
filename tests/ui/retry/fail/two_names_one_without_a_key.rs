// wrong: "payment"
// instead: remove "payment"

use resilience::{Error, retry};

#[retry("payment", name = "paymentRetry")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
