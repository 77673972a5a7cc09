use resilience::{Error, circuit_breaker as guard, retry};

#[retry]
#[guard]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
