// wrong: ""
// instead: leave `name` out to use the function's name

use resilience::{Error, retry};

#[retry(name = "")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
