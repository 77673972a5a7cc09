// wrong: #[guard]
// instead: write it as `#[circuit_breaker]`

use resilience::{Error, circuit_breaker as guard, retry};

#[retry]
#[guard]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
