// wrong: self
// instead: take `self: Arc<Self>`

use resilience::{Error, bulkhead};

struct Renderer;

impl Renderer {
    #[bulkhead(type = "thread_pool")]
    fn render(&self, page: String) -> Result<usize, Error> {
        Ok(page.len())
    }
}

fn main() {}
