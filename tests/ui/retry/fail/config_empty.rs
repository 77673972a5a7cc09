// wrong: ""
// instead: write `config = "resilience.yaml"`

use resilience::{Error, retry};

#[retry(config = "")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
