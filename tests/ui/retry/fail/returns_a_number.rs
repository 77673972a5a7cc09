// wrong: u32
// instead: returns `Result<T, E>` with `E: From<resilience::Error>`

use resilience::retry;

#[retry]
async fn pay() -> u32 {
    1
}

fn main() {}
