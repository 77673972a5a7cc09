use std::{collections::HashSet, ops::Range, sync::Arc};

use parking_lot::Mutex;
use resilience::IdempotencyKey;
use serde::Serialize;

/// The users that there are.
const USERS: Range<i64> = 0..1_000_000;

/// Who may use the system; clones share it.
#[derive(Debug, Clone)]
pub struct Directory(Arc<Mutex<State>>);

/// How often it was asked, and what for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Questions {
    /// Whether a user has the role.
    pub roles: u64,
    /// Which version the roles are.
    pub versions: u64,
}

#[derive(Debug)]
struct State {
    /// Those without the role: by far the fewer, and no more than there are users.
    without_role: HashSet<i64>,
    version: String,
    questions: Questions,
}

impl Default for Directory {
    /// The users 0 to 999 999, all of whom have the role.
    fn default() -> Self {
        let (without_role, version) = (HashSet::new(), new_version());
        let state = State { without_role, version, questions: Questions::default() };
        Self(Arc::new(Mutex::new(state)))
    }
}

impl Directory {
    /// Says whether a user has the role; `None` if there is no such user.
    pub fn has_service_role(&self, user: i64) -> Option<bool> {
        let mut state = self.0.lock();
        state.questions.roles += 1;
        USERS.contains(&user).then(|| !state.without_role.contains(&user))
    }

    /// Names the state of all roles: another name after every change.
    pub fn version(&self) -> String {
        let mut state = self.0.lock();
        state.questions.versions += 1;
        state.version.clone()
    }

    /// Gives a user the role or takes it away; `None` if there is no such user.
    pub fn set_service_role(&self, user: i64, has_it: bool) -> Option<()> {
        USERS.contains(&user).then(|| {
            let mut state = self.0.lock();
            let changed = if has_it {
                state.without_role.remove(&user)
            } else {
                state.without_role.insert(user)
            };
            if changed {
                state.version = new_version();
            }
        })
    }

    /// Says how often it was asked.
    pub fn questions(&self) -> Questions {
        self.0.lock().questions
    }
}

/// Random, not counted: after a restart the same number would name another state.
fn new_version() -> String {
    IdempotencyKey::random().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_names_one_state_of_the_roles_in_one_life_of_the_service() {
        let directory = Directory::default();
        let first = directory.version();
        assert_ne!(Directory::default().version(), first, "after a restart");
        directory.set_service_role(1, true).unwrap();
        assert_eq!(directory.version(), first, "nothing has changed");
        directory.set_service_role(1, false).unwrap();
        let second = directory.version();
        directory.set_service_role(1, true).unwrap();
        let third = directory.version();
        assert!(first != second && second != third && third != first);
    }

    #[test]
    fn who_does_not_exist_has_no_role_and_gets_none() {
        let directory = Directory::default();
        for user in [-1, 1_000_000, i64::MIN, i64::MAX] {
            assert_eq!(directory.set_service_role(user, true), None);
            assert_eq!(directory.has_service_role(user), None);
        }
        assert_eq!(directory.has_service_role(999_999), Some(true));
    }
}
