use resilience::{Error, retry};

#[retry("payment")]
async fn a_bare_name() -> Result<u32, Error> {
    Ok(1)
}

#[retry(max_attempts)]
async fn no_value() -> Result<u32, Error> {
    Ok(1)
}

#[retry(max_attempts = )]
async fn half_a_value() -> Result<u32, Error> {
    Ok(1)
}

#[retry(name = "a" max_attempts = 3)]
async fn no_comma() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
