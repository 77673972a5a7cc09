use std::time::Duration;

use resilience::{Error, Resilience};

use super::{Order, OrderError, OrderService, PaymentCallError};
use crate::sweeper::{Stop, Sweeper};

/// How many orders one sweep looks at of each kind.
const BATCH: u32 = 50;

/// What may pass on a busy machine from the note that a payment is begun to the call, besides the time
/// that the call may take.
const TO_BE_CALLED: Duration = Duration::from_millis(500);

/// Asks the payment service what became of payments that were left pending: whichever of them did not
/// hear of the other, by a callback or by an answer, this brings them together. And it withdraws the
/// orders that nobody goes on with, so that no stock is kept for them.
#[derive(Debug, Clone)]
pub struct Settler {
    service: OrderService,
    withdraw_after: Duration,
}

impl Settler {
    /// Settles the orders of this service. One whose payment was not begun for the time that
    /// `withdraw_after` is, is withdrawn; that should be longer than its client may take to come back.
    pub fn new(service: OrderService, withdraw_after: Duration) -> Self {
        Self { service, withdraw_after }
    }

    /// Sweeps at intervals, in the background.
    pub fn start(self, registry: &Resilience, every: Duration) -> Sweeper {
        Sweeper::start(registry, every, move |stop| {
            let settler = self.clone();
            async move {
                if let Err(error) = settler.sweep(&stop).await {
                    tracing::warn!(%error, "a sweep ended early");
                }
            }
        })
    }

    /// Looks once at the orders whose payment was begun and is pending, and at those that are to be
    /// withdrawn.
    ///
    /// # Errors
    ///
    /// If the database fails.
    ///
    /// # Cancel safety
    ///
    /// What is left is done by the next sweep.
    pub async fn sweep(&self, stop: &Stop) -> Result<(), OrderError> {
        self.settle_pending(stop).await?;
        self.service.withdraw_left_over(self.withdraw_after, BATCH, stop).await
    }

    async fn settle_pending(&self, stop: &Stop) -> Result<(), OrderError> {
        for order in self.service.store.pending(self.on_their_way(), BATCH).await? {
            if stop.is_told() {
                break;
            }
            if let Err(error) = self.settle(order).await? {
                tracing::info!(%error, "the payment service does not tell what became of a payment");
                if let PaymentCallError::Protected(Error::CallNotPermitted(_)) = error {
                    break; // for all of them, until the breaker lets calls through
                }
            }
        }
        Ok(())
    }

    /// How long a payment is left to who has begun it: asked about earlier, it would be asked for by two,
    /// and the customer be told that it is pending.
    fn on_their_way(&self) -> Duration {
        let limit = self.service.registry.time_limiter("paymentServiceTl");
        limit.config().timeout_duration() + TO_BE_CALLED
    }

    async fn settle(&self, order: Order) -> Result<Result<(), PaymentCallError>, OrderError> {
        self.service.store.touch(&order).await?;
        let known = match self.service.payment.find(&order.payment_key()).await {
            Ok(known) => known,
            Err(error) => return Ok(Err(error)),
        };
        match known {
            Some(state) => self.service.settle(&order, state).await?,
            // It was begun here and never arrived there.
            None => drop(self.service.pay(order).await),
        }
        Ok(Ok(()))
    }
}
