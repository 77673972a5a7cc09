// wrong: later
// instead: let it return `Result<u32, resilience::Error>`

use resilience::{Error, retry};

#[retry(fallback = later)]
async fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

async fn later(_: Error) -> Result<String, Error> {
    Ok(String::new())
}

fn main() {}
