// wrong: mut
// instead: `#[retry(mut_ok)]`

#![deny(deprecated)]

use resilience::{Error, retry};

struct Till(u32);

impl Till {
    #[retry]
    async fn pay(&mut self, amount: u32) -> Result<u32, Error> {
        self.0 += amount;
        Ok(self.0)
    }

    #[retry(mut_ok)]
    async fn close(&mut self) -> Result<u32, Error> {
        self.0 = 0;
        Ok(self.0)
    }
}

fn main() {}
