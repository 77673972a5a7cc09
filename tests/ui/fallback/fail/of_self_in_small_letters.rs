// wrong: self.later
// instead: write `fallback = Self::later`

use resilience::{Error, retry};

struct Service;

impl Service {
    #[retry(fallback = self.later)]
    async fn pay(&self) -> Result<u32, Error> {
        Ok(1)
    }

    async fn later(&self, _: Error) -> Result<u32, Error> {
        Ok(0)
    }
}

fn main() {}
