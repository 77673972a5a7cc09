// wrong: later
// instead: `fn later((from, to): (u32, u32), text: &str, error: CallError<Error>)

use resilience::{Error, retry};

#[retry(fallback = later)]
async fn search((from, to): (u32, u32), text: &str) -> Result<Vec<u32>, Error> {
    Ok(vec![from, to, text.len() as u32])
}

fn later() -> Result<Vec<u32>, Error> {
    Ok(Vec::new())
}

fn main() {}
