// wrong: self
// instead: take `self: Arc<Self>`

use resilience::{Error, time_limiter};

struct Service;

impl Service {
    #[time_limiter(detach)]
    async fn search(&self, text: String) -> Result<usize, Error> {
        Ok(text.len())
    }
}

fn main() {}
