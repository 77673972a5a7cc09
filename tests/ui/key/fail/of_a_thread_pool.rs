// wrong: key
// instead: leave it out, or limit the keys by another attribute

use resilience::{Error, bulkhead};

#[bulkhead(name = "pool", key = tenant, type = "thread_pool")]
fn render(tenant: u32) -> Result<u32, Error> {
    Ok(tenant)
}

fn main() {}
