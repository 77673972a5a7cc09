// wrong: fn
// instead: write `#[retry]` above that one

use resilience::{Error, retry};

#[retry]
fn pay() -> Result<u32, Error> {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async { Ok(1) })
}

fn main() {}
