// wrong: is_timeout
// instead: fn(&resilience::Error) -> bool

use resilience::{Error, retry};

#[retry(ignore = is_timeout)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn is_timeout(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::TimedOut
}

fn main() {}
