// wrong: fn
// instead: #[bulkhead(type = "thread_pool")]

use resilience::{Error, bulkhead};

#[bulkhead(name = "payment")]
fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

fn main() {
    let _ = pay(1);
}
