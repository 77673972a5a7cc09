// wrong: seconds
// instead: Option<Duration>

use resilience::{Error, circuit_breaker};

#[circuit_breaker(open_for = seconds)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn seconds(_: &Error) -> std::time::Duration {
    std::time::Duration::from_secs(1)
}

fn main() {}
