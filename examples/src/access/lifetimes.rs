use std::time::{Duration, Instant};

use moka::Expiry;

use super::gate::{Permission, Question};

/// How long what the account service said is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// A yes: as long as users go on while the account service is down, and at most as long as one who
    /// has lost his role does then.
    pub allowed: Duration,
    /// A no: shorter, as who was just given the role is waiting.
    pub denied: Duration,
    /// The version of the roles: a lost role is noticed that soon while the account service is up.
    pub version: Duration,
}

impl Default for Lifetimes {
    /// 60 s, 10 s, and 5 s.
    fn default() -> Self {
        let [allowed, denied, version] = [60, 10, 5].map(Duration::from_secs);
        Self { allowed, denied, version }
    }
}

impl Lifetimes {
    fn of(&self, permission: Permission) -> Duration {
        match permission {
            Permission::Allowed => self.allowed,
            Permission::Denied => self.denied,
        }
    }
}

/// From the answer on; being asked for does not make it good for longer.
impl Expiry<Question, Permission> for Lifetimes {
    fn expire_after_create(
        &self,
        _: &Question,
        permission: &Permission,
        _: Instant,
    ) -> Option<Duration> {
        Some(self.of(*permission))
    }

    // An answer that is over may still be there when the next one takes its place.
    fn expire_after_update(
        &self,
        _: &Question,
        permission: &Permission,
        _: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        Some(self.of(*permission))
    }
}
