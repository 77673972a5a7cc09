//! Without the feature `redis` there is no store.

use super::Indicator;
use crate::Resilience;

pub(super) fn indicator(_: &Resilience) -> Option<Indicator> {
    None
}
