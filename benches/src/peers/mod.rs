//! The peers at the common settings, each as its documentation says.

pub mod failsafe;
pub mod governor;
pub mod hand_made;
pub mod recloser;
pub mod seatbelt;
pub mod tower_resilience;
