// wrong: &
// instead: take an owned value or an `Arc`

use resilience::{Error, bulkhead};

#[bulkhead(type = "thread_pool")]
fn render(page: &str) -> Result<usize, Error> {
    Ok(page.len())
}

fn main() {}
