//! What is said of lints at an argument holds wherever an expansion binds it anew.

#![deny(warnings)]

use std::sync::Arc;

use resilience::{CallError, Error, bulkhead, circuit_breaker, retry, time_limiter};

#[circuit_breaker]
async fn once(
    #[allow(unused)] x: u8,
    #[allow(unused_mut)] mut y: u8,
    #[expect(unused_variables)] z: u8,
    #[allow(unused)] (a, b): (u8, u8),
) -> Result<u8, Error> {
    Ok(y + a)
}

#[retry(mut_ok, fallback = later)]
async fn kept(
    #[allow(unused)] x: u8,
    #[allow(unused_mut)] mut y: u8,
    #[expect(unused_variables)] z: u8,
    #[expect(unused_mut)] mut same: u8,
    #[expect(unused_variables)] exclusive: &mut u8,
    #[allow(unused_mut)] mut reborrowed: &mut u8,
    #[expect(unused_mut)] mut text: &str,
    #[expect(unused_variables)] shared: &str,
    #[expect(non_snake_case)] Upper: u8,
    #[cfg_attr(all(), allow(unused))] conditional: u8,
) -> Result<u8, Error> {
    *reborrowed += 1;
    Ok(y + same + Upper + u8::try_from(text.len()).unwrap_or(0))
}

fn later(_: CallError<Error>) -> Result<u8, Error> {
    Ok(0)
}

struct Service;

impl Service {
    #[retry]
    #[time_limiter(detach)]
    async fn detached(
        self: Arc<Self>,
        #[expect(unused_variables)] x: u8,
        #[allow(unused_mut)] mut y: String,
    ) -> Result<usize, Error> {
        Ok(y.len())
    }
}

#[bulkhead(type = "thread_pool")]
fn blocking(#[expect(unused)] x: u8, #[expect(unused_mut)] mut y: u8) -> Result<u8, Error> {
    Ok(y)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(once(1, 2, 3, (4, 5)).await, Ok(6));
    assert_eq!(kept(1, 2, 3, 4, &mut 5, &mut 6, "", "", 7, 8).await, Ok(13));
    assert_eq!(Arc::new(Service).detached(1, String::new()).await, Ok(0));
    assert_eq!(blocking(1, 2).await, Ok(2));
}
