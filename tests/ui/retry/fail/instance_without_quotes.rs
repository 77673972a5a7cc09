// wrong: payment
// instead: write `name = "payment"`

use resilience::{Error, retry};

#[retry(payment)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
