use resilience::Resilience;
use tokio_util::task::TaskTracker;

use super::{MailClient, Order};
use crate::mail::Mail;

/// Tells customers that their orders are confirmed, while nobody waits for that.
///
/// A mail may be lost, with the mail service or with this process: what it says can be read at
/// `GET /orders/{id}` as well. So it holds up no order and is kept nowhere.
#[derive(Debug, Clone)]
pub(super) struct Confirmations {
    mails: MailClient,
    registry: Resilience,
    beside: TaskTracker,
}

impl Confirmations {
    /// Sends mails by this client, under the protections of `registry`. Whoever ends the process waits
    /// for those under way by `beside`: each comes to its end within its time limit.
    pub(super) fn new(mails: MailClient, registry: Resilience, beside: TaskTracker) -> Self {
        Self { mails, registry, beside }
    }

    /// Sends a mail about this order.
    ///
    /// A task that finds no slot of the mails' bulkhead ends at once, and its mail is not sent: no more
    /// tasks wait for the mail service than there are slots.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub(super) fn send(&self, order: &Order) {
        let (mails, user) = (self.mails.clone(), order.user());
        let mail = Mail {
            order_id: order.order_id.clone(),
            text: "Your payment was approved: the order is confirmed.".to_owned(),
        };
        self.registry.spawn(self.beside.track_future(async move {
            // Swallowed here, outside of the breaker, which has counted it by then.
            if let Err(error) = mails.send(user, &mail).await {
                tracing::info!(order_id = mail.order_id, %error, "a mail may not have been sent");
            }
        }));
    }
}
