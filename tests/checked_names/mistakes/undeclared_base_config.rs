// wrong: "patien"
// instead: did you mean `patient`?

use resilience::{Error, retry};

#[retry(name = "anything", base_config = "patien")]
pub async fn pay() -> Result<u32, Error> {
    Ok(1)
}
