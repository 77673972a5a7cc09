// wrong: max_attempts
// instead: `max_attempts = …`

use resilience::{Error, retry};

#[retry(max_attempts)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
