use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use reqwest::StatusCode;
use resilience::{ErrorKind, Resilience, bulkhead, retry, time_limiter};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;
use tokio_util::task::TaskTracker;

use super::{Charge, Ledger};
use crate::{
    payment::Callback,
    peer::{Peer, TransportError},
    web::{ApiError, Secret},
};

const LONGEST_DELAY_MS: u64 = 60_000;

/// How many reports are under way at once when all are made again.
const AT_ONCE: usize = 16;

/// When the provider reports its decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebhookPlan {
    /// How long after a decision, in milliseconds up to 60 000; without one, never.
    pub delay_ms: Option<u64>,
}

impl WebhookPlan {
    pub(super) fn check(self) -> Result<Self, ApiError> {
        match self.delay_ms {
            Some(delay_ms) if delay_ms > LONGEST_DELAY_MS => {
                let message = format!("delay_ms = {delay_ms}: expected 0 to {LONGEST_DELAY_MS}");
                Err(ApiError::bad_request("BAD_WEBHOOKS", message))
            }
            _ => Ok(self),
        }
    }
}

/// Where the provider reports its decisions by itself, and how it vouches for them.
#[derive(Debug, Clone)]
pub struct Webhooks {
    peer: Peer,
    secret: Secret,
    registry: Resilience,
    plan: Arc<Mutex<WebhookPlan>>,
    beside: TaskTracker,
}

/// Why a report was not taken.
#[derive(Debug, thiserror::Error, ErrorKind)]
enum WebhookError {
    #[error("the callback was answered {0}")]
    Refused(StatusCode),
    #[error(transparent)]
    Transport(#[from] TransportError),
    #[error(transparent)]
    Protected(#[from] resilience::Error),
}

impl Webhooks {
    /// Reports to `POST /payments/callback` of this peer, at the times of `plan`. Whoever ends the process
    /// waits by `beside` for the reports under way, and for none that is not due yet: about those they
    /// ask who want to know.
    pub fn new(
        peer: Peer,
        secret: Secret,
        registry: Resilience,
        plan: WebhookPlan,
        beside: TaskTracker,
    ) -> Self {
        Self { peer, secret, registry, plan: Arc::new(Mutex::new(plan)), beside }
    }

    pub(super) fn set(&self, plan: WebhookPlan) {
        *self.plan.lock() = plan;
    }

    /// Reports a decision later, if decisions are reported. One that is new is told of once, so that no
    /// more wait than the ledger has room for.
    pub(super) fn announce(&self, charge: Charge) {
        let Some(delay_ms) = self.plan.lock().delay_ms else { return };
        let webhooks = self.clone();
        self.registry.spawn(async move {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            if !webhooks.beside.is_closed() {
                webhooks.beside.track_future(webhooks.report(charge)).await;
            }
        });
    }

    /// Reports all decisions once more, several at once and in no order.
    ///
    /// # Errors
    ///
    /// If somebody else has that done already.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends it; some have been reported then.
    #[bulkhead(name = "webhooksBh")]
    pub(super) async fn report_again(&self, ledger: &Ledger) -> Result<(), resilience::Error> {
        let mut under_way = JoinSet::new();
        for charge in ledger.charges() {
            if under_way.len() == AT_ONCE {
                under_way.join_next().await;
            }
            let (webhooks, registry) = (self.clone(), self.registry.clone());
            under_way.spawn(async move { registry.scope(webhooks.report(charge)).await });
        }
        while under_way.join_next().await.is_some() {}
        Ok(())
    }

    async fn report(&self, Charge { reference, verdict, .. }: Charge) {
        let callback = Callback { reference, verdict };
        if let Err(error) = self.send(&callback).await {
            tracing::warn!(%error, reference = callback.reference, "a report was not taken");
        }
    }

    #[retry(name = "webhook")]
    #[time_limiter(name = "webhookTl")]
    async fn send(&self, callback: &Callback) -> Result<(), WebhookError> {
        let body = serde_json::to_vec(callback).map_err(TransportError::Unwritable)?;
        let signature = self.secret.sign(&body);
        let answer = self.peer.post_signed("/payments/callback", &signature, body.into()).await?;
        match answer.status() {
            // Who does not know the payment will not get to know it.
            StatusCode::NOT_FOUND => Ok(()),
            status if status.is_success() => Ok(()),
            status => Err(WebhookError::Refused(status)),
        }
    }
}
