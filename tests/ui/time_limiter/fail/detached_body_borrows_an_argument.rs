// wrong: &
// instead: take an owned value or an `Arc`

use resilience::{Error, time_limiter};

#[time_limiter(detach)]
async fn search(text: &str) -> Result<usize, Error> {
    Ok(text.len())
}

fn main() {}
