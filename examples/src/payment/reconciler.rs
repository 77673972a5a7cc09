use std::time::Duration;

use resilience::{Error, Resilience};

use super::{Payment, PaymentError, PaymentService, ProviderError, SettledBy, Verdict};
use crate::sweeper::{Stop, Sweeper};

/// How many payments one sweep takes of each kind: it must come to an end, and let others at the
/// database and the provider.
const BATCH: u32 = 50;

/// Settles what was left open, and brings what waits in the queue to a provider.
///
/// It knows nothing but what is stored: whatever process died at whatever point, the next sweep of
/// any process finds the payment.
#[derive(Debug, Clone)]
pub struct Reconciler {
    service: PaymentService,
    abandoned_after: Duration,
}

/// What a look at one payment says about looking at the next one.
enum Next {
    Goes,
    /// The way is barred for all of them: the next sweep may find it open.
    Waits,
}

impl Reconciler {
    /// Settles the payments of this service. One that was requested `abandoned_after` ago is taken for
    /// one whose process died; that must be longer than a provider is waited for.
    pub fn new(service: PaymentService, abandoned_after: Duration) -> Self {
        Self { service, abandoned_after }
    }

    /// Sweeps at intervals, in the background.
    pub fn start(self, registry: &Resilience, every: Duration) -> Sweeper {
        Sweeper::start(registry, every, move |stop| {
            let reconciler = self.clone();
            async move {
                if let Err(error) = reconciler.sweep(&stop).await {
                    tracing::warn!(%error, "a sweep ended early");
                }
            }
        })
    }

    /// Looks once at what is open and at what waits.
    ///
    /// # Errors
    ///
    /// If the database fails.
    ///
    /// # Cancel safety
    ///
    /// A charge that was asked for is carried through; everything else is done by the next sweep.
    pub async fn sweep(&self, stop: &Stop) -> Result<(), PaymentError> {
        let store = &self.service.store;
        let abandoned = store.leave_abandoned_open(self.abandoned_after).await?;
        if abandoned > 0 {
            tracing::warn!(abandoned, "payments were left by a process that died");
        }
        for payment in store.open_payments(BATCH).await? {
            if stop.is_told() {
                return Ok(());
            }
            if let Next::Waits = self.settle(payment).await? {
                break;
            }
        }
        for payment in store.queued(BATCH).await? {
            if stop.is_told() {
                return Ok(());
            }
            let service = self.service.clone();
            let asked = async move { service.take_from_queue(&payment).await };
            if self.service.carried_through(asked).await??.is_queued() {
                break;
            }
        }
        Ok(())
    }

    /// Asks the provider that the payment was asked of, and no other, what became of it.
    async fn settle(&self, payment: Payment) -> Result<Next, PaymentError> {
        let service = self.service.clone();
        // One that cannot be settled must not keep the others from being looked at.
        service.store.touch(&payment.idempotency_key).await?;
        let Some((provider, key)) = service.provider_of(&payment).zip(payment.charge_key.as_ref())
        else {
            tracing::error!(payment = payment.idempotency_key, "nobody can be asked for a payment");
            return Ok(Next::Goes);
        };
        let reference = payment.idempotency_key.clone();
        let verdict = match provider.find(key).await {
            Ok(Some(verdict)) => verdict,
            // It may still be on its way, so it is not over. Under the same key, asking for it once
            // more is charging once.
            Ok(None) => {
                let (asking, asked) = (service.clone(), provider.clone());
                let payment = payment.clone();
                let again = async move { asking.charge(&asked, &payment).await };
                match self.service.carried_through(again).await? {
                    Verdict::NotAsked => return Ok(Next::Waits),
                    // It has never seen the charge and will not take it, nor an earlier request for it
                    // that arrives late, as one that is full stays so: others may be asked.
                    Verdict::NotTaken => {
                        service.store.queue_again(&reference, provider.name()).await?;
                        return Ok(Next::Goes);
                    }
                    verdict => verdict,
                }
            }
            Err(ProviderError::Protected(Error::CallNotPermitted(_))) => return Ok(Next::Waits),
            Err(error) => {
                tracing::warn!(%error, "a provider does not tell what became of a payment");
                return Ok(Next::Goes);
            }
        };
        service.note(&reference, verdict, SettledBy::Reconciler).await?;
        Ok(Next::Goes)
    }
}
