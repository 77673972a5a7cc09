use super::instance::Bulkhead;

/// A slot of a bulkhead; dropping it frees the slot.
///
/// It borrows nothing, so it can move into a spawned task or a blocking closure and keep the slot
/// taken until the work has really ended.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use resilience::{Bulkhead, BulkheadConfig};
///
/// let bulkhead = Bulkhead::new("reports", BulkheadConfig::default());
/// let permit = bulkhead.acquire().await?;
/// let report = tokio::task::spawn_blocking(move || {
///     let _permit = permit;
///     "report"
/// });
/// assert_eq!(report.await?, "report");
/// assert_eq!(bulkhead.available_concurrent_calls(), bulkhead.max_concurrent_calls());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropping the permit frees the slot"]
pub struct Permit {
    /// `None` for a call that passed a disabled bulkhead.
    bulkhead: Option<Bulkhead>,
}

impl Permit {
    /// For a slot that the engine has counted.
    pub(super) fn held(bulkhead: Bulkhead) -> Self {
        Self { bulkhead: Some(bulkhead) }
    }

    /// For a call that takes no slot.
    pub(super) fn unlimited() -> Self {
        Self { bulkhead: None }
    }

    /// Lets somebody else free the slot, if there is one.
    pub(super) fn into_bulkhead(mut self) -> Option<Bulkhead> {
        self.bulkhead.take()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(bulkhead) = &self.bulkhead {
            bulkhead.leave();
        }
    }
}
