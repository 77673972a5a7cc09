// wrong: "conf/resilience.yaml"
// instead: `config` is a path from the folder of Cargo.toml on
// says: conf/resilience.yaml: cannot read the file

use resilience::{Error, retry};

#[retry(config = "conf/resilience.yaml")]
pub async fn pay() -> Result<u32, Error> {
    Ok(1)
}
