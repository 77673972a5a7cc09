//! What one puts together by hand from crates of one pattern each.

use std::sync::Arc;

use ::governor::DefaultDirectRateLimiter;
use ::recloser::AsyncRecloser;
use backon::{ConstantBuilder, Retryable};
use tokio::{sync::Semaphore, time::timeout};

use super::{governor, recloser};
use crate::{
    body::{Failed, body},
    settings,
};

/// backon around recloser around governor around tokio's timeout around tokio's semaphore: the same
/// five layers in the same order as ours.
#[derive(Debug, Clone)]
pub struct HandMade {
    breaker: AsyncRecloser,
    limiter: Arc<DefaultDirectRateLimiter>,
    bulkhead: Arc<Semaphore>,
}

impl HandMade {
    /// The five at the common settings.
    pub fn new() -> Self {
        Self {
            breaker: recloser::breaker(),
            limiter: Arc::new(governor::limiter()),
            bulkhead: Arc::new(Semaphore::new(settings::CONCURRENT as usize)),
        }
    }

    /// A call through all of them.
    ///
    /// # Errors
    ///
    /// The body's error, or [`Failed::Body`] for any refusal.
    pub async fn call(&self) -> Result<u64, Failed> {
        let attempt = || async {
            let admitted = async {
                self.limiter.until_ready().await;
                let held = async {
                    let _slot = self.bulkhead.try_acquire().map_err(|_| Failed::Body)?;
                    body(1).await
                };
                timeout(settings::TIMEOUT, held).await.map_err(|_| Failed::Body)?
            };
            self.breaker.call(admitted).await.map_err(|error| match error {
                ::recloser::Error::Inner(failed) => failed,
                ::recloser::Error::Rejected => Failed::Body,
            })
        };
        attempt.retry(backoff()).await
    }
}

impl Default for HandMade {
    fn default() -> Self {
        Self::new()
    }
}

/// backon's waits at the common settings. It counts the attempts after the first.
pub fn backoff() -> ConstantBuilder {
    ConstantBuilder::default()
        .with_delay(settings::WAIT)
        .with_max_times(settings::ATTEMPTS as usize - 1)
}
