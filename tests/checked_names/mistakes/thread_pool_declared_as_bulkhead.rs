// wrong: "reports"
// instead: write `type = "semaphore"` at the attribute or move the entry

use resilience::{Error, bulkhead};

#[bulkhead(name = "reports", type = "thread_pool")]
pub fn report() -> Result<u32, Error> {
    Ok(1)
}
