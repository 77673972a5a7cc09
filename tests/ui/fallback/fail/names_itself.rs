// wrong: pay
// instead: name the function that answers instead

use resilience::{Error, retry};

#[retry(fallback = pay)]
async fn pay(_: Error) -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
