// wrong: const
// instead: write `async fn`

use resilience::{Error, retry};

#[retry]
const fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

fn main() {}
