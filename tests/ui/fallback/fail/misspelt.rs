// wrong: latr
// instead: similarly named function `later`

use resilience::{Error, retry};

#[retry(fallback = latr)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn later(_: Error) -> Result<u32, Error> {
    Ok(0)
}

fn main() {}
