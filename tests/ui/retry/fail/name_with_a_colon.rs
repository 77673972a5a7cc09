// wrong: name
// instead: `name = …`

use resilience::{Error, retry};

#[retry(name: "payment")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
