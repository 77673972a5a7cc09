// wrong: max_concurrent_calls
// instead: it belongs to `bulkhead`

use resilience::{Error, bulkhead};

#[bulkhead(type = "thread_pool", max_concurrent_calls = 3)]
fn render() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
