// wrong: detach
// instead: such as an `Arc` in the place of an `Rc`

use resilience::{Error, time_limiter};

use std::rc::Rc;

#[time_limiter(detach)]
async fn search(text: String) -> Result<Rc<str>, Error> {
    Ok(text.into())
}

fn main() {}
