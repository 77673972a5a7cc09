//! Nothing in an expansion trips a lint that a strict crate turns on; clippy runs over this file.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::absolute_paths,
    clippy::allow_attributes_without_reason,
    clippy::clone_on_ref_ptr,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::mem_forget,
    clippy::panic,
    clippy::pattern_type_mismatch,
    clippy::semicolon_outside_block,
    clippy::shadow_reuse,
    clippy::shadow_same,
    clippy::shadow_unrelated,
    clippy::std_instead_of_core,
    clippy::unwrap_used,
    missing_debug_implementations,
    rust_2018_idioms,
    single_use_lifetimes,
    unreachable_pub,
    unused_lifetimes,
    unused_qualifications
)]

use core::future::ready;
use std::sync::Arc;

use resilience::{
    CallError, Error, ErrorKind, bulkhead, circuit_breaker, rate_limiter, retry, time_limiter,
};

#[derive(Debug, ErrorKind)]
enum Failure {
    Refused(Error),
    #[error_kind("group")]
    Other,
}

impl From<Error> for Failure {
    fn from(refused: Error) -> Self {
        Self::Refused(refused)
    }
}

#[retry(name = "payment", max_attempts = 3, wait_duration = "10ms", fallback = later)]
#[circuit_breaker(record = is_failure, failure_rate_threshold = 50)]
#[rate_limiter(permits = 2)]
#[time_limiter]
#[bulkhead]
async fn pay(card: String, (amount, _): (usize, &str), _trace: u64) -> Result<usize, Failure> {
    ready(()).await;
    amount.checked_add(card.len()).ok_or(Failure::Other)
}

const fn is_failure(_: &Failure) -> bool {
    true
}

fn later(error: CallError<Failure>) -> Result<usize, Failure> {
    Err(error.into_error())
}

#[bulkhead(type = "thread_pool")]
#[retry]
fn blocking(card: String) -> Result<usize, Failure> {
    card.len().checked_add(1).ok_or(Failure::Other)
}

#[derive(Debug, Default)]
struct Service(usize);

impl Service {
    #[retry]
    #[time_limiter(detach)]
    async fn detached(self: Arc<Self>, mut text: String) -> Result<usize, Failure> {
        text.push('!');
        ready(()).await;
        text.len().checked_add(self.0).ok_or(Failure::Other)
    }

    #[circuit_breaker]
    async fn exclusive(&mut self, by: usize) -> Result<&mut usize, Failure> {
        ready(()).await;
        self.0 = self.0.checked_add(by).ok_or(Failure::Other)?;
        Ok(&mut self.0)
    }
}

#[tokio::test]
async fn functions_that_pass_strict_lints_work() {
    assert_eq!(pay(String::new(), (1, ""), 2).await.ok(), Some(1));
    assert_eq!(blocking(String::new()).await.ok(), Some(1));
    let mut service = Service::default();
    assert_eq!(service.exclusive(2).await.ok(), Some(&mut 2));
    assert_eq!(Arc::new(service).detached(String::new()).await.ok(), Some(3));
    assert_eq!(Failure::Other.kinds(), ["other", "group"]);
}
