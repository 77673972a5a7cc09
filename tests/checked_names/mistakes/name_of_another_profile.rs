// wrong: "onlyInProduction"
// instead: write one that is: `payment`, `stock`

use resilience::{Error, retry};

#[retry(name = "onlyInProduction")]
pub async fn pay() -> Result<u32, Error> {
    Ok(1)
}
