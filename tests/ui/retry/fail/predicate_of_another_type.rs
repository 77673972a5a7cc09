use resilience::{Error, retry};

fn is_transient(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::TimedOut
}

#[retry(retry_if = is_transient)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

#[retry(retry_result = nowhere)]
async fn unknown_path() -> Result<u32, Error> {
    Ok(1)
}

fn is_empty(value: u32) -> bool {
    value == 0
}

#[retry(retry_result = is_empty)]
async fn value_by_value() -> Result<u32, Error> {
    Ok(1)
}

fn seconds(_: &Error) -> u64 {
    1
}

#[retry(retry_after = seconds)]
async fn bare_seconds() -> Result<u32, Error> {
    Ok(1)
}

#[retry]
#[resilience::circuit_breaker(ignore = is_transient)]
async fn at_the_inner_attribute() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
