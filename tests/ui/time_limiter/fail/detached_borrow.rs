use std::rc::Rc;

use resilience::{Error, time_limiter};

struct Service;

impl Service {
    #[time_limiter(detach)]
    async fn by_reference(&self, text: &str) -> Result<usize, Error> {
        Ok(text.len())
    }
}

#[time_limiter(detach)]
async fn not_send(text: Rc<str>) -> Result<usize, Error> {
    Ok(text.len())
}

fn main() {}
