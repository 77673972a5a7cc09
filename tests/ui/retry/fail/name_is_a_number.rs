// wrong: 5
// instead: a string literal

use resilience::{Error, retry};

#[retry(name = 5)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
