//! A key that one process has and the others know of.

use std::time::Duration;

use super::refused::Why;
use crate::store::{DISOWN, Key, OWN, Part, Reply, Store};

/// A key of a store that is taken until this is dropped, or until it expires.
#[derive(Debug)]
pub(super) struct Owned {
    store: Store,
    key: Key,
    token: String,
}

/// What a store says of a key.
pub(super) enum Taken {
    Owned(Owned),
    ByAnother(Why),
    /// It does not say.
    Unknown,
}

impl Owned {
    /// Takes a key for as long as `expires` at most.
    ///
    /// # Cancel safety
    ///
    /// Dropping it lets go of the key, should the store have given it.
    pub(super) async fn take(store: &Store, name: &str, key: &str, expires: Duration) -> Taken {
        let owned = Owned {
            store: store.clone(),
            key: store.key("sf", name, Some(key)),
            // No two are the same.
            token: format!("{:032x}", fastrand::u128(..)),
        };
        let arguments = vec![owned.token.clone(), expires.as_millis().to_string()];
        let answer = store.decide(&OWN, &owned.key, arguments).await;
        match answer.as_ref().map(Reply::as_slice) {
            Ok([Part::Number(1), _]) => Taken::Owned(owned),
            Ok([Part::Number(0), Part::Number(left)]) => {
                let longest = u64::try_from(*left).ok().map(Duration::from_millis);
                owned.forget();
                Taken::ByAnother(Why::InProgress { longest })
            }
            // It may be taken all the same: the drop lets go of it.
            _ => Taken::Unknown,
        }
    }

    /// Goes away without a word to the store: there is nothing to let go of.
    fn forget(mut self) {
        self.token.clear();
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.token.is_empty() {
            // Sent at once; nobody waits for the answer, and without it the key expires.
            let token = std::mem::take(&mut self.token);
            let _on_its_way = self.store.decide(&DISOWN, &self.key, vec![token]);
        }
    }
}
