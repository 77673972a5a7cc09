// wrong: true
// instead: write `mut_ok` alone

use resilience::{Error, retry};

#[retry(mut_ok = true)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
