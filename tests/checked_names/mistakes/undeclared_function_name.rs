// wrong: #[retry]
// instead: did you mean `name = "payment"`?
// says: `payments` under `retry.instances`, which is the name where none is written

use resilience::{Error, retry};

#[retry]
pub async fn payments() -> Result<u32, Error> {
    Ok(1)
}
