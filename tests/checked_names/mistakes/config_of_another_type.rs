// wrong: 3
// instead: write `config = "resilience.yaml"`, or `config = false` where nothing is to be checked

use resilience::{Error, retry};

#[retry(config = 3)]
pub async fn pay() -> Result<u32, Error> {
    Ok(1)
}
