use resilience::{Error, retry};

fn is_transient(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::TimedOut
}

#[retry(retry_if = is_transient)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

#[retry(retry_result = nowhere)]
async fn unknown_path() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
