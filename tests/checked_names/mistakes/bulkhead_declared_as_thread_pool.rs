// wrong: "render"
// instead: write `type = "thread_pool"` at the attribute or move the entry
// says: declares `render` under `thread-pool-bulkhead`, not under `bulkhead.instances`

use resilience::{Error, bulkhead};

#[bulkhead(name = "render")]
pub async fn render() -> Result<u32, Error> {
    Ok(1)
}
