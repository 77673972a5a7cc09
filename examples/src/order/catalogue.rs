use serde::{Deserialize, Serialize};

/// What is sold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, sqlx::FromRow)]
pub struct Product {
    /// The product's own name.
    pub sku: String,
    /// The name that people read.
    pub name: String,
    /// The price, in the smallest unit of the currency.
    pub price: i64,
}
