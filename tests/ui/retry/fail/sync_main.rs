// wrong: fn
// instead: make it `async`

use resilience::{Error, retry};

#[retry]
fn main() -> Result<(), Error> {
    Ok(())
}
