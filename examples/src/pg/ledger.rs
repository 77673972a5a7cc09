use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// The provider declines what is above this amount.
const LIMIT: i64 = 1_000_000;

/// The provider's decision on a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// The money was taken.
    Approved,
    /// Nothing was taken: the amount is above 1 000 000.
    Declined,
}

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// The key under which the charge was asked for.
    pub idempotency_key: String,
    /// The amount, in the smallest unit of the currency.
    pub amount: i64,
    /// What was decided.
    pub verdict: Verdict,
    /// How often it was asked for; however often, it is charged once.
    pub requests: u32,
}

/// Every charge the provider was asked for; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Ledger(Arc<Mutex<BTreeMap<String, Charge>>>);

impl Ledger {
    /// Decides on a charge, or tells the decision that this key already has.
    ///
    /// Returns `None` if the key was used for another amount.
    pub fn charge(&self, idempotency_key: &str, amount: i64) -> Option<Verdict> {
        let mut charges = self.0.lock();
        let charge = charges.entry(idempotency_key.to_owned()).or_insert_with(|| Charge {
            idempotency_key: idempotency_key.to_owned(),
            amount,
            verdict: if amount > LIMIT { Verdict::Declined } else { Verdict::Approved },
            requests: 0,
        });
        charge.requests += 1;
        (charge.amount == amount).then_some(charge.verdict)
    }

    /// All charges, by key.
    pub fn charges(&self) -> Vec<Charge> {
        self.0.lock().values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_asked_for_twice_under_one_key_is_booked_once() {
        let ledger = Ledger::default();
        assert_eq!(ledger.charge("k", 100), Some(Verdict::Approved));
        assert_eq!(ledger.charge("k", 100), Some(Verdict::Approved));
        assert_eq!(ledger.charges().len(), 1);
        assert_eq!(ledger.charges()[0].requests, 2);
    }

    #[test]
    fn a_key_used_for_another_amount_is_refused_and_keeps_its_first_amount() {
        let ledger = Ledger::default();
        ledger.charge("k", 100);
        assert_eq!(ledger.charge("k", 200), None);
        assert_eq!(ledger.charges()[0].amount, 100);
    }

    #[test]
    fn an_amount_above_the_limit_is_declined() {
        let ledger = Ledger::default();
        assert_eq!(ledger.charge("at", LIMIT), Some(Verdict::Approved));
        assert_eq!(ledger.charge("above", LIMIT + 1), Some(Verdict::Declined));
    }
}
