use resilience::{Error, retry};

#[retry(fallback = nowhere)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
