// wrong: ""
// instead: a name of 1 to 200 characters

use resilience::{Error, retry};

#[retry(budget = "")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
