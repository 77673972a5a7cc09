// wrong: 0
// instead: a whole number from 1
// wrong: wait
// instead: did you mean `wait_duration`?
// wrong: ""
// instead: leave `name` out to use the function's name
// wrong: 200
// instead: a number above 0 and up to 100

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
