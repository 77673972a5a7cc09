use resilience::{Error, retry};

#[retry(fallback = pay)]
async fn pay(_: Error) -> Result<u32, Error> {
    Ok(1)
}

struct Service;

impl Service {
    #[retry(fallback = [Self::ship])]
    async fn ship(&self) -> Result<u32, Error> {
        Ok(1)
    }
}

fn main() {}
