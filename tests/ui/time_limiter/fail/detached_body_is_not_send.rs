// wrong: detach
// instead: which is not `Send`

use resilience::{Error, time_limiter};

use std::{future::ready, rc::Rc};

#[time_limiter(detach)]
async fn search(text: String) -> Result<usize, Error> {
    let shared = Rc::new(text);
    ready(()).await;
    Ok(shared.len())
}

fn main() {}
