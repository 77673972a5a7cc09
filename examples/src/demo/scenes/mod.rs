//! What happens in each scene, and what is promised.

pub(super) mod account_down;
pub(super) mod all_well;
pub(super) mod hang_up;
pub(super) mod hung_inventory;
pub(super) mod recovery;
pub(super) mod rush;
pub(super) mod shared_limit;
pub(super) mod slow_provider;
