// wrong: key
// instead: `key = …`

use resilience::{Error, retry};

#[retry(key)]
async fn pay(key: u32) -> Result<u32, Error> {
    Ok(key)
}

fn main() {}
