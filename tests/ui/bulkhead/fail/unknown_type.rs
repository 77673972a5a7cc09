// wrong: "threads"
// instead: "semaphore" or "thread_pool"

use resilience::{Error, bulkhead};

#[bulkhead(type = "threads")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
