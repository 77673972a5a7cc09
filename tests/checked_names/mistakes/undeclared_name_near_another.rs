// wrong: "paymet"
// instead: did you mean `payment`?
// says: resilience.yaml has no `paymet` under `retry.instances`

use resilience::{Error, retry};

#[retry(name = "paymet")]
pub async fn pay() -> Result<u32, Error> {
    Ok(1)
}
