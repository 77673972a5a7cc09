use axum::http::StatusCode;

use crate::web::ApiError;

/// Why stock cannot be reserved or released.
#[derive(Debug, thiserror::Error)]
pub enum StockError {
    /// Nothing of that name is sold.
    #[error("there is no sku '{0}'")]
    UnknownSku(String),
    /// There is less in stock than was asked for.
    #[error("'{0}' is out of stock")]
    OutOfStock(String),
    /// The order already has a reservation of something else.
    #[error("order '{0}' has another reservation")]
    AnotherReservation(String),
    /// A quantity of zero.
    #[error("quantity = 0: expected at least 1")]
    NoQuantity,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl From<StockError> for ApiError {
    fn from(error: StockError) -> Self {
        let message = error.to_string();
        match error {
            StockError::UnknownSku(_) => Self::new(StatusCode::NOT_FOUND, "UNKNOWN_SKU", message),
            StockError::OutOfStock(_) => Self::new(StatusCode::CONFLICT, "OUT_OF_STOCK", message),
            StockError::AnotherReservation(_) => {
                Self::new(StatusCode::CONFLICT, "ANOTHER_RESERVATION", message)
            }
            StockError::NoQuantity => Self::bad_request("INVALID_QUANTITY", message),
            StockError::Database(error) => error.into(),
        }
    }
}
