// wrong: "search"
// instead: write one that is: `payment-cb`
// says: declares `search` under `ratelimiter`, not under `circuitbreaker.instances`

use resilience::{Error, circuit_breaker, rate_limiter};

#[rate_limiter(name = "search")]
#[circuit_breaker(name = "search")]
pub async fn search() -> Result<u32, Error> {
    Ok(1)
}
