use std::time::Duration;

use reqwest::StatusCode;
use resilience::{ErrorKind, bulkhead, circuit_breaker};

use crate::{
    access::{ACCESS_UNKNOWN, FORBIDDEN, USER, UserId},
    inventory::{Release, Reservation},
    peer::{Answer, Peer, TransportError},
};

/// Why the inventory did not do what it was asked.
#[derive(Debug, thiserror::Error, ErrorKind)]
pub enum InventoryError {
    /// There is less in stock than was asked for.
    #[error("out of stock")]
    #[error_kind("http_4xx")]
    OutOfStock,
    /// Nothing of that name is sold.
    #[error("there is no such sku")]
    #[error_kind("http_4xx")]
    UnknownSku,
    /// The user may not.
    #[error("the user may not use the inventory")]
    #[error_kind("http_4xx")]
    Forbidden,
    /// Whether the user may is not known now. Nothing was done, and nothing is wrong with the inventory:
    /// the configuration tells its breaker to ignore this.
    #[error("whether the user may use the inventory cannot be told now")]
    AccessUnknown {
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The inventory did not accept the request as it was.
    #[error("the inventory answered {0}")]
    #[error_kind("http_4xx")]
    Refused(StatusCode),
    /// The inventory failed.
    #[error("the inventory answered {0}")]
    #[error_kind("http_5xx")]
    Failed(StatusCode),
    /// The inventory was not reached, or its answer did not arrive.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A protection refused the call.
    #[error(transparent)]
    Protected(#[from] resilience::Error),
}

/// The way to the inventory.
#[derive(Debug, Clone)]
pub struct InventoryClient {
    peer: Peer,
}

impl InventoryClient {
    /// Asks this inventory.
    pub fn new(peer: Peer) -> Self {
        Self { peer }
    }

    /// Keeps stock for an order of this user; asking twice keeps it once.
    ///
    /// # Errors
    ///
    /// If nothing is kept, or that is not known: see [`InventoryError::may_have_reserved`].
    #[circuit_breaker(name = "inventoryCb")]
    #[bulkhead(name = "inventoryBh")]
    pub async fn reserve(
        &self,
        user: UserId,
        reservation: &Reservation,
    ) -> Result<(), InventoryError> {
        let user = user.digits();
        done(&self.peer.post("/inventory/reserve", &[(USER, &user)], reservation).await?)
    }

    /// Gives back what is kept for an order.
    ///
    /// # Errors
    ///
    /// If it is not known to have been given back.
    #[circuit_breaker(name = "inventoryCb")]
    #[bulkhead(name = "inventoryBh")]
    pub async fn release(&self, release: &Release) -> Result<(), InventoryError> {
        done(&self.peer.post("/inventory/release", &[], release).await?)
    }
}

impl InventoryError {
    /// Says whether stock may be kept although the call failed.
    pub fn may_have_reserved(&self) -> bool {
        match self {
            Self::Failed(_)
            | Self::Transport(TransportError::Broken(_) | TransportError::Unreadable(_)) => true,
            Self::OutOfStock
            | Self::UnknownSku
            | Self::Forbidden
            | Self::AccessUnknown { .. }
            | Self::Refused(_)
            | Self::Transport(
                TransportError::Connect(_)
                | TransportError::Unmade(_)
                | TransportError::Unwritable(_)
                | TransportError::Refused(_),
            )
            | Self::Protected(_) => false,
        }
    }
}

fn done(answer: &Answer) -> Result<(), InventoryError> {
    match answer.status() {
        status if status.is_success() => Ok(()),
        status if status.is_client_error() => Err(match answer.error_code().as_str() {
            "OUT_OF_STOCK" => InventoryError::OutOfStock,
            "UNKNOWN_SKU" => InventoryError::UnknownSku,
            FORBIDDEN => InventoryError::Forbidden,
            _ => InventoryError::Refused(status),
        }),
        _ if answer.error_code() == ACCESS_UNKNOWN => {
            Err(InventoryError::AccessUnknown { retry_after: answer.retry_after() })
        }
        status => Err(InventoryError::Failed(status)),
    }
}
