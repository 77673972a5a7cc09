// wrong: "order-7"
// instead: write `idempotency_key` alone; the body reads the key with `resilience::idempotency_key()`

use resilience::{Error, retry};

#[retry(idempotency_key = "order-7")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
