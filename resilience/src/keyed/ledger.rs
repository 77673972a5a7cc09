//! What instances of keys have counted, so that no count is lost when an instance goes.

use std::sync::Arc;

use super::Counts;

/// The counts of keys that are gone, and which keys are counted apart.
///
/// Those listed in `metric_keys` are, from the moment on at which they are both listed and there. What
/// all others have counted is one number, which never falls: neither when an instance goes, nor when a
/// key is put on the list or taken off it.
#[derive(Clone)]
pub(super) struct Ledger<C> {
    others: C,
    apart: Vec<Account<C>>,
}

/// A key that is counted apart.
#[derive(Clone)]
struct Account<C> {
    key: Arc<str>,
    /// Counted by its instances that are gone.
    gone: C,
    /// Counted before it was counted apart: that stays with the others.
    before: C,
}

/// What the instances of all keys have counted up to now.
pub(crate) struct Tally<T, C> {
    /// Together, but for those that are counted apart.
    pub(crate) others: C,
    pub(crate) apart: Vec<Apart<T, C>>,
}

/// What the instances of one key have counted up to now.
pub(crate) struct Apart<T, C> {
    pub(crate) key: Arc<str>,
    pub(crate) counts: C,
    /// The instance, while there is one.
    pub(crate) live: Option<T>,
}

impl<C: Counts> Ledger<C> {
    pub(super) fn new() -> Self {
        Self { others: C::NONE, apart: Vec::new() }
    }

    fn account(&mut self, key: &str) -> Option<&mut Account<C>> {
        self.apart.iter_mut().find(|account| *account.key == *key)
    }

    /// Counts a key apart whose instance has counted `before`.
    pub(super) fn open(&mut self, key: &Arc<str>, before: C) {
        if self.account(key).is_none() {
            self.apart.push(Account { key: Arc::clone(key), gone: C::NONE, before });
        }
    }

    /// Counts the keys no longer apart that are not on the list any more.
    pub(super) fn close_unlisted(&mut self, listed: &[String]) {
        let Self { others, apart } = self;
        apart.retain(|account| {
            let stays = is_listed(listed, &account.key);
            if !stays {
                others.add(&account.gone);
            }
            stays
        });
    }

    /// Keeps what an instance has counted that goes.
    pub(super) fn keep(&mut self, key: &str, counts: &C) {
        match self.account(key) {
            Some(account) => account.gone.add(counts),
            None => self.others.add(counts),
        }
    }

    /// Adds up what is kept here and what the instances have counted that were there with it.
    pub(super) fn tally<T>(
        self,
        live: impl IntoIterator<Item = (Arc<str>, T)>,
        counts: impl Fn(&T) -> C,
        into: &mut Tally<T, C>,
    ) {
        let first = into.apart.len();
        into.others.add(&self.others);
        let mut before = Vec::new();
        for Account { key, gone, before: until } in self.apart {
            into.others.add(&until);
            into.apart.push(Apart { key, counts: gone, live: None });
            before.push(until);
        }
        let apart = &mut into.apart[first..];
        for (key, instance) in live {
            let counts = counts(&instance);
            match apart.iter_mut().find(|apart| apart.key == key) {
                Some(apart) => {
                    apart.counts.add(&counts);
                    apart.live = Some(instance);
                }
                None => into.others.add(&counts),
            }
        }
        for (apart, before) in apart.iter_mut().zip(&before) {
            apart.counts = apart.counts.since(before);
        }
    }
}

/// Whether a key is one of those that may be named. The empty one cannot be told from none.
pub(super) fn is_listed(listed: &[String], key: &str) -> bool {
    !key.is_empty() && listed.iter().any(|listed| listed == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    type OfOne = Ledger<[u64; 1]>;

    /// What the others have counted, and each that is counted apart; an instance is its own count.
    fn tally(ledger: &OfOne, live: &[(&str, u64)]) -> (u64, Vec<(String, u64, bool)>) {
        let mut tally = Tally { others: [0], apart: Vec::new() };
        let live = live.iter().map(|&(key, count)| (Arc::from(key), count));
        ledger.clone().tally(live, |count| [*count], &mut tally);
        let apart = |apart: Apart<u64, [u64; 1]>| {
            (apart.key.to_string(), apart.counts[0], apart.live.is_some())
        };
        (tally.others[0], tally.apart.into_iter().map(apart).collect())
    }

    #[test]
    fn what_an_instance_has_counted_stays_when_it_goes() {
        let mut ledger = OfOne::new();
        assert_eq!(tally(&ledger, &[("a", 2), ("b", 3)]), (5, vec![]));
        ledger.keep("a", &[2]);
        assert_eq!(tally(&ledger, &[("b", 3)]), (5, vec![]));
        assert_eq!(tally(&ledger, &[("b", 3), ("a", 1)]), (6, vec![]));
    }

    #[test]
    fn a_key_that_is_counted_apart_is_not_among_the_others() {
        let mut ledger = OfOne::new();
        ledger.open(&"a".into(), [0]);
        assert_eq!(tally(&ledger, &[("a", 2), ("b", 3)]), (3, vec![("a".into(), 2, true)]));
        ledger.keep("a", &[2]);
        assert_eq!(tally(&ledger, &[("b", 3)]), (3, vec![("a".into(), 2, false)]));
        ledger.open(&"a".into(), [0]);
        assert_eq!(tally(&ledger, &[("a", 1)]), (0, vec![("a".into(), 3, true)]));
    }

    #[test]
    fn the_others_lose_nothing_to_a_key_that_is_listed_and_get_back_one_that_is_not() {
        let mut ledger = OfOne::new();
        ledger.keep("a", &[4]);
        ledger.open(&"a".into(), [2]);
        assert_eq!(tally(&ledger, &[("a", 2)]), (6, vec![("a".into(), 0, true)]));
        assert_eq!(tally(&ledger, &[("a", 5)]), (6, vec![("a".into(), 3, true)]));
        ledger.keep("a", &[5]);
        ledger.close_unlisted(&["b".into()]);
        assert_eq!(tally(&ledger, &[]), (9, vec![]));
    }
}
