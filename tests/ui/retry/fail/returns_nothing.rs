// wrong: pay
// instead: returns `Result<T, E>` with `E: From<resilience::Error>`

use resilience::retry;

#[retry]
async fn pay() {}

fn main() {}
