// wrong: #[bulkhead(type = "thread_pool")]
// instead: such as an `Arc` in the place of an `Rc`

use resilience::{Error, bulkhead};

use std::rc::Rc;

#[bulkhead(type = "thread_pool")]
fn render(page: String) -> Result<Rc<str>, Error> {
    Ok(page.into())
}

fn main() {}
