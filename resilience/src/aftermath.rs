/// What a change leaves to be done once no lock is held: waking, telling, letting go.
///
/// It is done when this is dropped. Whoever changes many instances as one step keeps these until the
/// step is over, because they run code of others.
#[derive(Default)]
pub(crate) struct Aftermath(Option<Box<dyn FnOnce() + Send>>);

impl Aftermath {
    pub(crate) fn new(act: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(act)))
    }

    /// First this, then the other.
    pub(crate) fn and(self, other: Self) -> Self {
        if self.0.is_none() || other.0.is_none() {
            return if self.0.is_none() { other } else { self };
        }
        Self::new(move || {
            drop(self);
            drop(other);
        })
    }
}

impl Drop for Aftermath {
    fn drop(&mut self) {
        if let Some(act) = self.0.take() {
            act();
        }
    }
}
