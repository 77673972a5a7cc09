// wrong: "resilience.ini"
// instead: the name must end in .yaml, .yml, .toml, .properties or .json

use resilience::{Error, retry};

#[retry(config = "resilience.ini")]
pub async fn pay() -> Result<u32, Error> {
    Ok(1)
}
