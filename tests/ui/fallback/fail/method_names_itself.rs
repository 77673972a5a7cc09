// wrong: Self::ship
// instead: name the function that answers instead

use resilience::{Error, retry};

struct Service;

impl Service {
    #[retry(fallback = [Self::ship])]
    async fn ship(&self) -> Result<u32, Error> {
        Ok(1)
    }
}

fn main() {}
