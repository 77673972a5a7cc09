use resilience::{Error, circuit_breaker};

#[circuit_breaker(slidingWindwSize = 10)]
async fn stock() -> Result<u32, Error> {
    Ok(1)
}

#[circuit_breaker(retry_if = drop)]
async fn of_another_attribute() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
