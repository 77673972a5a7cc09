use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use moka::future::Cache;
use parking_lot::Mutex;
use resilience::time_limiter;

use super::{AccountClient, AccountError, Lifetimes, Untold};

/// Which version of the roles is the last one known; clones share it.
///
/// This is the question that fails open. What rests on a failure is the permission that the account
/// service gave before, which ends by itself.
#[derive(Debug, Clone)]
pub(super) struct Freshness {
    account: AccountClient,
    /// The answer while it is good, and the one call for all who wait for the next.
    asked: Cache<(), ()>,
    last: Arc<Last>,
}

/// The last version that was told.
#[derive(Debug, Default)]
struct Last {
    version: Mutex<Option<Arc<str>>>,
    /// So that an outage is logged at its start and its end, not at every request.
    is_outage: AtomicBool,
}

/// A version of the roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// None if it was never told.
    pub(super) version: Option<Arc<str>>,
    /// Whether the account service said so within the version's lifetime.
    pub(super) is_fresh: bool,
}

impl Freshness {
    /// Asks this account service.
    pub(super) fn new(account: AccountClient, lifetimes: &Lifetimes) -> Self {
        let asked = Cache::builder().max_capacity(1).time_to_live(lifetimes.version).build();
        Self { account, asked, last: Arc::default() }
    }

    /// Finds out which version the roles are, or else which one they were.
    ///
    /// # Cancel safety
    ///
    /// Another caller who waits for the same answer asks in the place of one who is gone.
    pub(super) async fn known(&self) -> Known {
        let asked = self.ask().await;
        let is_fresh = asked.is_ok();
        let was_outage = self.last.is_outage.swap(!is_fresh, Ordering::Relaxed);
        match asked {
            Err(error) if !was_outage => {
                tracing::warn!(%error, "permissions are not checked for changes: what was allowed stays so");
            }
            Ok(()) if was_outage => tracing::info!("permissions are checked for changes again"),
            _ => {}
        }
        Known { version: self.last.version.lock().clone(), is_fresh }
    }

    #[time_limiter(name = "accountWaitTl")]
    async fn ask(&self) -> Result<(), Untold> {
        // Stored by the one who asks, so that an answer that is taken up late is not put in the place of
        // a later one.
        let answer = async {
            let version = self.account.roles_version().await?;
            *self.last.version.lock() = Some(version.into());
            Ok::<_, AccountError>(())
        };
        Ok(self.asked.try_get_with((), answer).await?)
    }
}
