// wrong: key
// instead: keep one of them

use resilience::{Error, rate_limiter};

#[rate_limiter(key = tenant, key = user)]
async fn search(tenant: u32, user: u32) -> Result<u32, Error> {
    Ok(tenant + user)
}

fn main() {}
