//! All mails that were sent, although the service shows the last hundred only.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use examples::mail::Sent;
use parking_lot::Mutex;
use reqwest::Client;

/// At ten orders a second and process, a hundred mails take five seconds, and a service that stands still
/// sends none.
const GLANCE: Duration = Duration::from_secs(1);

/// The orders that were mailed about, by the numbers of the mails.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mails(Arc<Mutex<BTreeMap<u64, String>>>);

impl Mails {
    /// Looks at the mail service every second, until it is dropped.
    pub(crate) async fn watch(&self, client: &Client, url: &str) {
        let mut ticks = tokio::time::interval(GLANCE);
        loop {
            ticks.tick().await;
            self.look(client, url).await;
        }
    }

    /// The orders of all mails until now, one for each mail, and how many mails were never seen.
    pub(crate) async fn all(&self, client: &Client, url: &str) -> (Vec<String>, u64) {
        let count = self.look(client, url).await;
        let seen: Vec<_> = self.0.lock().values().cloned().collect();
        let unseen = count - seen.len() as u64;
        (seen, unseen)
    }

    async fn look(&self, client: &Client, url: &str) -> u64 {
        let sent = client.get(format!("{url}/mails")).send().await.unwrap();
        let sent: Sent = sent.json().await.unwrap();
        self.see(&sent);
        sent.count
    }

    fn see(&self, sent: &Sent) {
        let first = sent.count - sent.last.len() as u64;
        let ids = sent.last.iter().map(|mail| mail.order_id.clone());
        self.0.lock().extend((first..).zip(ids));
    }
}

#[cfg(test)]
mod tests {
    use examples::mail::{Mail, Outbox};

    use super::*;

    #[test]
    fn every_mail_is_seen_once_however_often_and_late_it_is_looked_at() {
        let (outbox, mails) = (Outbox::default(), Mails::default());
        let ids: Vec<_> = (0..250).map(|number| (number / 2).to_string()).collect();
        for (number, order_id) in ids.iter().cloned().enumerate() {
            outbox.send(Mail { order_id, text: String::new() });
            if number % 60 == 0 || number == 249 {
                mails.see(&outbox.sent());
            }
        }
        assert!(mails.0.lock().values().eq(&ids));
    }
}
