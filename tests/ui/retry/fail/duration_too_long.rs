// wrong: "99999999999h"
// instead: such as 500ms, 2s or 1m30s

use resilience::{Error, retry};

#[retry(wait_duration = "99999999999h")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
