// wrong: "paymet"
// instead: did you mean `payment`?

use resilience::{Error, retry};

#[retry(name = "paymet", config = "resilience.yaml", max_attempts = 3)]
pub async fn pay() -> Result<u32, Error> {
    Ok(1)
}
