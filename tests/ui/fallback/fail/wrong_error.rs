// wrong: later
// instead: `CallError<resilience::Error>` everything

use resilience::{Error, retry};

#[retry(fallback = later)]
async fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

fn later(amount: u32, _: std::fmt::Error) -> Result<u32, Error> {
    Ok(amount)
}

fn main() {}
