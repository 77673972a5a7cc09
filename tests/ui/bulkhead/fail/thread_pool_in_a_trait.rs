// wrong: Result<usize, Error>
// instead: expected signature `fn(String) -> Result<usize, resilience::Error>`

use resilience::{Error, bulkhead};

trait Render {
    fn render(page: String) -> Result<usize, Error>;
}

struct Service;

impl Render for Service {
    #[bulkhead(type = "thread_pool")]
    fn render(page: String) -> Result<usize, Error> {
        Ok(page.len())
    }
}

fn main() {}
