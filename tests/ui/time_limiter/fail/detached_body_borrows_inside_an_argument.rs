// wrong: Cow
// instead: take an owned value or an `Arc`

use resilience::{Error, time_limiter};

use std::borrow::Cow;

#[time_limiter(detach)]
async fn search(text: Cow<'_, str>) -> Result<usize, Error> {
    Ok(text.len())
}

fn main() {}
