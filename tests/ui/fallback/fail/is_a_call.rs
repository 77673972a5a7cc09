// wrong: later()
// instead: write `fallback = later`

use resilience::{Error, retry};

#[retry(fallback = later())]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn later(_: Error) -> Result<u32, Error> {
    Ok(0)
}

fn main() {}
