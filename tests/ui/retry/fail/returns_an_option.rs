// wrong: Option<u32>
// instead: returns `Result<T, E>` with `E: From<resilience::Error>`

use resilience::retry;

#[retry]
async fn pay() -> Option<u32> {
    None
}

fn main() {}
