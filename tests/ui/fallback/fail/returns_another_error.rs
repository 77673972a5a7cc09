// wrong: later
// instead: let it return `Result<u32, resilience::Error>`

use resilience::{Error, retry};

#[retry(fallback = later)]
async fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

fn later(_: Error) -> Result<u32, String> {
    Ok(1)
}

fn main() {}
