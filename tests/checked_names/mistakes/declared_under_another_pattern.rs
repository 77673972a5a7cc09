// wrong: "paymentCb"
// instead: did you mean `payment`?
// says: resilience.yaml declares `paymentCb` under `circuitbreaker`, not under `retry.instances`

use resilience::{Error, retry};

#[retry(name = "paymentCb")]
pub async fn pay() -> Result<u32, Error> {
    Ok(1)
}
