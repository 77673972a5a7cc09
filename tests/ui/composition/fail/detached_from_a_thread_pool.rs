// wrong: detach
// instead: leave `detach` out

use resilience::{Error, bulkhead, time_limiter};

#[time_limiter(detach)]
#[bulkhead(type = "thread_pool")]
fn render(page: String) -> Result<usize, Error> {
    Ok(page.len())
}

fn main() {}
