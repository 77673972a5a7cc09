// wrong: later
// instead: `fn later(from: u32, to: u32, error: CallError<Error>) -> Result<u32, Error>` would fit

use resilience::{Error, retry};

#[retry(fallback = later)]
async fn search(from: u32, to: u32) -> Result<u32, Error> {
    Ok(from + to)
}

fn later(_: u32, _: u32) -> Result<u32, Error> {
    Ok(0)
}

fn main() {}
