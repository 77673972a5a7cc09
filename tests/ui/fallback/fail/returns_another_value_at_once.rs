// wrong: later
// instead: let it return `Result<u32, resilience::Error>`

use resilience::{CallError, Error, circuit_breaker};

#[circuit_breaker(fallback = later)]
async fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

fn later(_: CallError<Error>) -> Result<String, Error> {
    Ok(String::new())
}

fn main() {}
