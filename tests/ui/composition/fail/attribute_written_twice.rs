// wrong: retry
// instead: put one on a function that this one calls

use resilience::{Error, retry};

#[retry(name = "a")]
#[retry(name = "b")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
