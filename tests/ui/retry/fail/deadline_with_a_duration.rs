// wrong: "1s"
// instead: write `deadline` alone, and the time as `total_timeout = …`

use resilience::{Error, retry};

#[retry(deadline = "1s")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
