use resilience::{Error, circuit_breaker, retry};

#[retry(max_attempts = 0, wait = "1s")]
#[circuit_breaker(name = "", failure_rate_threshold = 200)]
async fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

// The function is still there for its callers.
async fn order() -> Result<u32, Error> {
    pay(1).await
}

fn main() {}
