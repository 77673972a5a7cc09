use serde::{Deserialize, Serialize};

/// Stock that is kept for an order; asking twice for the same order keeps it once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// The order it is kept for.
    pub order_id: String,
    /// What is kept.
    pub sku: String,
    /// How much of it, at least 1.
    pub quantity: u32,
}

/// Gives back what is kept for an order; a no-op where nothing is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// The order it was kept for.
    pub order_id: String,
}
