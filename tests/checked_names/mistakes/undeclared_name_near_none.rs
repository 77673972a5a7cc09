// wrong: "warehouse"
// instead: write one that is: `payment`, `stock`

use resilience::{Error, retry};

#[retry(name = "warehouse")]
pub async fn order() -> Result<u32, Error> {
    Ok(1)
}
