use resilience::{Error, bulkhead, circuit_breaker, retry, time_limiter};

#[time_limiter(timeout_duration = "2s", deadline = true)]
async fn with_a_value() -> Result<u32, Error> {
    Ok(1)
}

#[retry(deadline = "1s")]
async fn with_a_duration() -> Result<u32, Error> {
    Ok(1)
}

#[circuit_breaker(deadline)]
async fn at_another_attribute() -> Result<u32, Error> {
    Ok(1)
}

#[bulkhead(deadline)]
async fn at_yet_another() -> Result<u32, Error> {
    Ok(1)
}

#[retry(budget = 3)]
async fn a_budget_is_named() -> Result<u32, Error> {
    Ok(1)
}

#[retry(budget = "", total_timeout = "0ms")]
async fn names_and_times_are_checked() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
