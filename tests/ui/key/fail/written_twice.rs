use resilience::{Error, rate_limiter, retry};

#[rate_limiter(key = tenant, key = user)]
async fn search(tenant: u32, user: u32) -> Result<u32, Error> {
    Ok(tenant + user)
}

#[retry(key)]
async fn pay(key: u32) -> Result<u32, Error> {
    Ok(key)
}

fn main() {}
