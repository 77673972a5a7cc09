use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// How many of the last mails can be looked at.
const SHOWN: usize = 100;

/// What a customer is told about an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// The order.
    pub order_id: String,
    /// What there is to say.
    pub text: String,
}

/// What has been sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// How many mails.
    pub count: u64,
    /// The last hundred of them, the latest at the end.
    pub last: VecDeque<Mail>,
}

/// The mails that were sent; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Outbox(Arc<Mutex<Sent>>);

impl Outbox {
    /// Sends a mail: to whom is of no interest to a simulation.
    pub fn send(&self, mail: Mail) {
        let mut sent = self.0.lock();
        sent.count += 1;
        if sent.last.len() == SHOWN {
            sent.last.pop_front();
        }
        sent.last.push_back(mail);
    }

    /// Says what has been sent.
    pub fn sent(&self) -> Sent {
        self.0.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mail_is_counted_and_the_last_hundred_are_kept() {
        let outbox = Outbox::default();
        for number in 0..250 {
            outbox.send(Mail { order_id: number.to_string(), text: String::new() });
        }
        let sent = outbox.sent();
        assert_eq!(sent.count, 250);
        let kept: Vec<_> = sent.last.iter().map(|mail| mail.order_id.clone()).collect();
        let expected: Vec<_> = (150..250).map(|number| number.to_string()).collect();
        assert_eq!(kept, expected);
    }
}
