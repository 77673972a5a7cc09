use resilience::{Error, retry};

#[retry(wait_duration = "5 parsecs")]
async fn no_such_unit() -> Result<u32, Error> {
    Ok(1)
}

#[retry(wait_duration = "-1s")]
async fn negative() -> Result<u32, Error> {
    Ok(1)
}

#[retry(wait_duration = "99999999999h")]
async fn too_long() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
