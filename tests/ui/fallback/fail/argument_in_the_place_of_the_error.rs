// wrong: later
// instead: its last argument must be the error

use resilience::{Error, retry};

#[retry(fallback = later)]
async fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

fn later(_: u32) -> Result<u32, Error> {
    Ok(0)
}

fn main() {}
