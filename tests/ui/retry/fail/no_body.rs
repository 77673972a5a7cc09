use resilience::{Error, retry};

trait Gateway {
    #[retry]
    async fn pay(&self) -> Result<u32, Error>;
}

fn main() {}
