// wrong: "5s"
// instead: the path of a function

use resilience::{Error, circuit_breaker};

#[circuit_breaker(open_for = "5s")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
