// wrong: self
// instead: derive `Clone`, take the argument by reference or in an `Arc`

use resilience::{Error, retry};

struct Service(u32);

impl Service {
    #[retry]
    async fn pay(self, amount: u32) -> Result<u32, Error> {
        Ok(self.0 + amount)
    }
}

fn main() {}
