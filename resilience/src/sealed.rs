//! What traits ask for that only this crate implements, so that they can grow: nobody else can name
//! it. Two of them, so that the compiler does not offer events where requests are meant.

use crate::events::RecentEvent;

/// `T` is what the trait is generic over.
pub trait Sealed<T> {}

/// For events and their kinds.
pub trait SealedEvent {
    /// Adds what this sort of event knows besides its words.
    fn add_details(&self, _recent: &mut RecentEvent) {}
}
