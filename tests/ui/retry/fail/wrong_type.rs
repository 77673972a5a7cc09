use resilience::{Error, retry};

const ATTEMPTS: u32 = 3;

#[retry(
    name = 5,
    max_attempts = "three",
    wait_duration = 200,
    enable_exponential_backoff = 1,
    exponential_backoff_multiplier = "2",
    retry_errors = "timeout",
    retry_if = |_| true
)]
async fn each_wrong() -> Result<u32, Error> {
    Ok(1)
}

#[retry(max_attempts = ATTEMPTS)]
async fn not_a_literal() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
