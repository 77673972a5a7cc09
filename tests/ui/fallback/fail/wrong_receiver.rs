// wrong: Self
// instead: `fn later(&self, amount: u32, error: CallError<Error>) -> Result<u32, Error>` would fit

use resilience::{CallError, Error, retry};

struct Service(u32);

impl Service {
    #[retry(fallback = Self::later)]
    async fn pay(&self, amount: u32) -> Result<u32, Error> {
        Ok(amount)
    }

    async fn later(&mut self, amount: u32, _: CallError<Error>) -> Result<u32, Error> {
        self.0 += amount;
        Ok(amount)
    }
}

fn main() {}
