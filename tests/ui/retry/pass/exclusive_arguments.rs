//! Exclusive arguments that no second attempt can find half changed are no mistake.
#![deny(warnings)]

use resilience::{Error, retry, time_limiter};

#[retry(mut_ok)]
async fn said_to_be_fine(rows: &mut Vec<u32>) -> Result<usize, Error> {
    rows.clear();
    rows.push(1);
    Ok(rows.len())
}

#[time_limiter]
async fn not_retried(rows: &mut Vec<u32>) -> Result<usize, Error> {
    rows.push(1);
    Ok(rows.len())
}

#[retry]
async fn not_there(
    rows: &Vec<u32>,
    #[cfg(any())] not_in_this_build: &mut Vec<u32>,
) -> Result<usize, Error> {
    Ok(rows.len())
}

struct Source {
    next: u32,
}

impl Source {
    #[retry]
    async fn untouched(&mut self, _: &mut Vec<u32>, _for_later: &mut u32) -> Result<u32, Error> {
        let another = Source { next: 7 };
        Ok(another.next)
    }
}

#[allow(deprecated)]
#[retry]
async fn silenced_as_any_other_warning(rows: &mut Vec<u32>) -> Result<usize, Error> {
    rows.push(1);
    Ok(rows.len())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut rows = Vec::new();
    assert_eq!(said_to_be_fine(&mut rows).await.unwrap(), 1);
    assert_eq!(not_retried(&mut rows).await.unwrap(), 2);
    assert_eq!(not_there(&rows).await.unwrap(), 2);
    assert_eq!(Source { next: 1 }.untouched(&mut rows, &mut 1).await.unwrap(), 7);
    assert_eq!(silenced_as_any_other_warning(&mut rows).await.unwrap(), 3);
}
