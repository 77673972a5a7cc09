use resilience::{Error, retry};

// Another crate of the build may have turned the feature on.
#[retry(config = false)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {
    let _ = pay();
}
