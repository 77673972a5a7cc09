// wrong: T
// instead: a type parameter is bound by it: `T: Clone`

use resilience::{Error, retry};

#[retry]
async fn send<T: AsRef<[u8]>>(body: T) -> Result<usize, Error> {
    Ok(body.as_ref().len())
}

fn main() {}
