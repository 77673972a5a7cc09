// wrong: max_attempts
// instead: expected `,`

use resilience::{Error, retry};

#[retry(name = "a" max_attempts = 3)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
