use super::{instance::Bulkhead, permit::Permit};

/// A slot whose holder has a handle of the bulkhead already; dropping it frees the slot.
///
/// What a [`Permit`] is, without a handle of its own: a call that is over before its caller is need
/// not count one more.
#[derive(Debug)]
#[must_use = "dropping the slot frees it"]
pub(crate) struct Slot<'b> {
    /// `None` for a call that passed a disabled bulkhead.
    bulkhead: Option<&'b Bulkhead>,
}

impl<'b> Slot<'b> {
    /// For a slot that the engine has counted, and that nobody else frees.
    pub(crate) fn held(bulkhead: &'b Bulkhead) -> Self {
        Self { bulkhead: Some(bulkhead) }
    }

    /// For a call that takes no slot.
    pub(super) fn unlimited() -> Self {
        Self { bulkhead: None }
    }

    /// The slot that a permit of this bulkhead holds.
    pub(crate) fn of(bulkhead: &'b Bulkhead, permit: Permit) -> Self {
        Self { bulkhead: permit.into_bulkhead().map(|_| bulkhead) }
    }

    /// Leaves it to the caller to free the slot; whether there is one.
    pub(crate) fn lend(mut self) -> bool {
        self.bulkhead.take().is_some()
    }

    /// The same slot, for a holder that may outlive the handle.
    pub(crate) fn into_permit(mut self) -> Permit {
        self.bulkhead.take().cloned().map_or_else(Permit::unlimited, Permit::held)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some(bulkhead) = self.bulkhead {
            bulkhead.leave();
        }
    }
}
