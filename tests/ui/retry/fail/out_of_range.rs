use resilience::{Error, circuit_breaker, rate_limiter, retry, time_limiter};

#[retry(max_attempts = 0, randomized_wait_factor = 1.5)]
#[circuit_breaker(failure_rate_threshold = 101, sliding_window_size = -1, initial_state = "AJAR")]
#[rate_limiter(permits = 0, limit_for_period = 5_000_000_000)]
#[time_limiter(timeout_duration = "0s")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
