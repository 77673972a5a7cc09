use resilience::{Error, retry};

#[retry(max_attemps = 5)]
async fn misspelt() -> Result<u32, Error> {
    Ok(1)
}

#[retry(maxAttempts = 5)]
async fn camel_case() -> Result<u32, Error> {
    Ok(1)
}

#[retry(failure_rate_threshold = 50)]
async fn of_another_attribute() -> Result<u32, Error> {
    Ok(1)
}

#[retry(colour = 5)]
async fn of_no_attribute() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
