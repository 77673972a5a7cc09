// wrong: "broken.yaml"
// instead: expected a whole number from 1
// says: broken.yaml:2: retry.instances.pay.max_attempts = 0

use resilience::{Error, retry};

#[retry(config = "broken.yaml")]
pub async fn pay() -> Result<u32, Error> {
    Ok(1)
}
