// wrong: mut
// instead: `#[retry(mut_ok)]`

#![deny(deprecated)]

use resilience::{Error, circuit_breaker, retry};

#[circuit_breaker]
#[retry]
async fn read(rows: &mut Vec<u32>) -> Result<usize, Error> {
    rows.push(1);
    Ok(rows.len())
}

// Without a retry there is no second attempt.
#[circuit_breaker]
async fn read_once(rows: &mut Vec<u32>) -> Result<usize, Error> {
    rows.push(1);
    Ok(rows.len())
}

fn main() {}
