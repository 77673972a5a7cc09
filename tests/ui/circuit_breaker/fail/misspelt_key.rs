// wrong: slidingWindwSize
// instead: did you mean `sliding_window_size`?

use resilience::{Error, circuit_breaker};

#[circuit_breaker(slidingWindwSize = 10)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
