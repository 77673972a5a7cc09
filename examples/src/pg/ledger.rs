use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// The provider declines what is above this amount, until it is told another one.
const LIMIT: i64 = 1_000_000;

/// How many charges there is room for. A charge is money: none of them is ever forgotten to make room.
const ROOM: usize = 100_000;

/// The provider's decision on a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// The money was taken.
    Approved,
    /// Nothing was taken: the amount is above the card's limit.
    Declined,
}

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// The key under which the charge was asked for.
    pub idempotency_key: String,
    /// What the caller calls it. Charges are told apart by their keys alone: two keys, two charges.
    pub reference: String,
    /// The amount, in the smallest unit of the currency.
    pub amount: i64,
    /// What was decided.
    pub verdict: Verdict,
    /// How often it was asked for; however often, it is charged once.
    pub requests: u32,
}

/// Why a charge was not booked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotBooked {
    /// The key names another charge.
    #[error("the idempotency key was used for another charge")]
    KeyReused,
    /// There is no room for one more.
    #[error("the ledger is full")]
    Full,
}

/// Every charge the provider was asked for; clones share it.
#[derive(Debug, Clone)]
pub struct Ledger(Arc<Mutex<Book>>);

#[derive(Debug)]
struct Book {
    charges: BTreeMap<String, Charge>,
    limit: i64,
    room: usize,
}

impl Default for Ledger {
    /// Room for 100 000 charges.
    fn default() -> Self {
        Self::with_room_for(ROOM)
    }
}

impl Ledger {
    /// Makes an empty ledger with room for this many charges.
    pub fn with_room_for(room: usize) -> Self {
        Self(Arc::new(Mutex::new(Book { charges: BTreeMap::new(), limit: LIMIT, room })))
    }

    /// Decides on a charge, or tells the decision that this key already has.
    ///
    /// # Errors
    ///
    /// If the key was used for another charge, or it is a new one and there is no room for it.
    pub fn charge(
        &self,
        idempotency_key: &str,
        reference: &str,
        amount: i64,
    ) -> Result<Charge, NotBooked> {
        let mut book = self.0.lock();
        if book.charges.len() >= book.room && !book.charges.contains_key(idempotency_key) {
            return Err(NotBooked::Full);
        }
        let limit = book.limit;
        let charge = book.charges.entry(idempotency_key.to_owned()).or_insert_with(|| Charge {
            idempotency_key: idempotency_key.to_owned(),
            reference: reference.to_owned(),
            amount,
            verdict: if amount > limit { Verdict::Declined } else { Verdict::Approved },
            requests: 0,
        });
        charge.requests += 1;
        let is_same = charge.amount == amount && charge.reference == reference;
        if is_same { Ok(charge.clone()) } else { Err(NotBooked::KeyReused) }
    }

    /// Finds the charge of this key.
    pub fn find(&self, idempotency_key: &str) -> Option<Charge> {
        self.0.lock().charges.get(idempotency_key).cloned()
    }

    /// Declines what is above this amount, from now on.
    pub fn set_limit(&self, limit: i64) {
        self.0.lock().limit = limit;
    }

    /// All charges, by key.
    pub fn charges(&self) -> Vec<Charge> {
        self.0.lock().charges.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(ledger: &Ledger, key: &str, amount: i64) -> Option<Verdict> {
        ledger.charge(key, "order", amount).ok().map(|charge| charge.verdict)
    }

    #[test]
    fn a_charge_asked_for_twice_under_one_key_is_booked_once() {
        let ledger = Ledger::default();
        assert_eq!(verdict(&ledger, "k", 100), Some(Verdict::Approved));
        assert_eq!(verdict(&ledger, "k", 100), Some(Verdict::Approved));
        assert_eq!(ledger.charges().len(), 1);
        assert_eq!(ledger.charges()[0].requests, 2);
    }

    #[test]
    fn one_reference_under_two_keys_is_charged_twice() {
        let ledger = Ledger::default();
        verdict(&ledger, "k", 100);
        verdict(&ledger, "l", 100);
        assert_eq!(ledger.charges().len(), 2);
    }

    #[test]
    fn a_key_used_for_another_charge_is_refused_and_keeps_its_first_one() {
        let ledger = Ledger::default();
        ledger.charge("k", "order", 100).unwrap();
        assert_eq!(ledger.charge("k", "order", 200), Err(NotBooked::KeyReused));
        assert_eq!(ledger.charge("k", "another", 100), Err(NotBooked::KeyReused));
        let kept = ledger.find("k").unwrap();
        assert_eq!((kept.amount, &*kept.reference), (100, "order"));
    }

    #[test]
    fn an_amount_above_the_limit_is_declined_for_good() {
        let ledger = Ledger::default();
        assert_eq!(verdict(&ledger, "at", LIMIT), Some(Verdict::Approved));
        assert_eq!(verdict(&ledger, "above", LIMIT + 1), Some(Verdict::Declined));
        ledger.set_limit(LIMIT + 1);
        assert_eq!(verdict(&ledger, "above", LIMIT + 1), Some(Verdict::Declined));
        assert_eq!(verdict(&ledger, "later", LIMIT + 1), Some(Verdict::Approved));
    }

    #[test]
    fn a_full_ledger_books_nothing_more_and_forgets_nothing() {
        let ledger = Ledger::with_room_for(2);
        verdict(&ledger, "k", 100);
        verdict(&ledger, "l", 100);
        assert_eq!(ledger.charge("m", "order", 100), Err(NotBooked::Full));
        assert_eq!(verdict(&ledger, "k", 100), Some(Verdict::Approved), "it is told as before");
        assert_eq!(ledger.charges().len(), 2);
    }
}
