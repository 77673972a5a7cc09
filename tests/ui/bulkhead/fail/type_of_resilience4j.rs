// wrong: "THREADPOOL"
// instead: "thread_pool"

use resilience::{Error, bulkhead};

#[bulkhead(type = "THREADPOOL", queue_capacity = 10)]
fn render() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
