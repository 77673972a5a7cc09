// wrong: Rc
// instead: such as an `Arc`

use resilience::{Error, time_limiter};

use std::rc::Rc;

#[time_limiter(detach)]
async fn search(text: Rc<str>) -> Result<usize, Error> {
    Ok(text.len())
}

fn main() {}
