// wrong: Backlog
// instead: `fn later(&self, amount: u32, error: CallError<Error>) -> Result<u32, Error>` would fit

use resilience::{Error, retry};

struct Service;

struct Backlog;

impl Service {
    #[retry(fallback = Backlog::later)]
    async fn pay(&self, amount: u32) -> Result<u32, Error> {
        Ok(amount)
    }
}

impl Backlog {
    async fn later(&self, amount: u32, _: Error) -> Result<u32, Error> {
        Ok(amount)
    }
}

fn main() {}
