// wrong: async
// instead: remove `async`

use resilience::{Error, bulkhead};

#[bulkhead(type = "thread_pool")]
async fn render() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
