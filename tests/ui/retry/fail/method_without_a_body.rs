// wrong: pay
// instead: put it on the method in the `impl`

use resilience::{Error, retry};

trait Gateway {
    #[retry]
    async fn pay(&self) -> Result<u32, Error>;
}

fn main() {}
