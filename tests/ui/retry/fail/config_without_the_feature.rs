// wrong: "resilience.yaml"
// instead: add `features = ["checked-names"]`

use resilience::{Error, retry};

#[retry(config = "resilience.yaml")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
