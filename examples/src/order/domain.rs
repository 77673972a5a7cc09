use serde::{Deserialize, Serialize};

use super::OrderError;
use crate::access::UserId;

/// Whether an order is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[sqlx(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderStatus {
    /// Placed; not paid, or not known to be.
    Ordered,
    /// Paid.
    Confirmed,
}

/// What the customer is told about the payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[sqlx(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentState {
    /// The outcome is not known yet; the order stands.
    Pending,
    /// The money was taken.
    Approved,
    /// The provider declined; the order stands and can be paid again.
    Rejected,
}

impl PaymentState {
    /// What becomes of the order: an approved payment confirms it, nothing else does.
    pub fn confirms(self) -> OrderStatus {
        match self {
            Self::Approved => OrderStatus::Confirmed,
            Self::Pending | Self::Rejected => OrderStatus::Ordered,
        }
    }
}

/// What `POST /orders` takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OrderRequest {
    /// Who orders.
    pub user_id: i64,
    /// What is ordered.
    pub sku: String,
    /// How much of it, at least 1.
    pub quantity: u32,
    /// The amount to pay, above 0, in the smallest unit of the currency.
    pub amount: i64,
}

/// An order as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub struct Order {
    /// The order's own name.
    pub order_id: String,
    /// Who ordered.
    pub user_id: i64,
    /// What was ordered.
    pub sku: String,
    /// How much of it.
    pub quantity: u32,
    /// The amount to pay, in the smallest unit of the currency.
    pub amount: i64,
    /// Whether it is paid for.
    pub status: OrderStatus,
    /// What is known about the payment.
    pub payment_status: PaymentState,
    /// How often it was paid anew after a payment that was declined.
    #[serde(skip)]
    pub payment_attempt: u32,
    /// Whether the payment service was asked, and may have been paid.
    #[serde(skip)]
    pub payment_begun: bool,
    /// Whether it is being taken back: it is none any more, and only its stock is still to be given back.
    #[serde(skip)]
    pub withdrawing: bool,
}

impl OrderRequest {
    /// Checks the request and makes it an order, not paid yet.
    ///
    /// # Errors
    ///
    /// [`OrderError::Invalid`] if the quantity or the amount is not above 0.
    pub fn into_order(self) -> Result<Order, OrderError> {
        if self.quantity == 0 {
            return Err(OrderError::Invalid("quantity = 0: expected at least 1".to_owned()));
        }
        if self.amount <= 0 {
            let message = format!("amount = {}: expected more than 0", self.amount);
            return Err(OrderError::Invalid(message));
        }
        Ok(Order {
            // Random, as the payment service remembers keys for longer than this process lives.
            order_id: format!("{:032x}", fastrand::u128(..)),
            user_id: self.user_id,
            sku: self.sku,
            quantity: self.quantity,
            amount: self.amount,
            status: OrderStatus::Ordered,
            payment_status: PaymentState::Pending,
            payment_attempt: 0,
            payment_begun: false,
            withdrawing: false,
        })
    }
}

impl Order {
    /// Says whether the order is what this request asks for.
    pub fn answers(&self, request: &OrderRequest) -> bool {
        let OrderRequest { user_id, sku, quantity, amount } = request;
        self.user_id == *user_id
            && self.sku == *sku
            && self.quantity == *quantity
            && self.amount == *amount
    }

    /// Who ordered, as those who are asked on his behalf are told.
    pub fn user(&self) -> UserId {
        UserId::new(self.user_id)
    }

    /// The key under which this order is paid: the same however often the payment is asked for, and
    /// another one when it is paid anew.
    pub fn payment_key(&self) -> String {
        match self.payment_attempt {
            0 => format!("order-{}", self.order_id),
            again => format!("order-{}-{again}", self.order_id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> OrderRequest {
        OrderRequest { user_id: 1, sku: "book".into(), quantity: 1, amount: 12_000 }
    }

    #[test]
    fn an_order_is_confirmed_by_an_approved_payment_only() {
        for (payment, status) in [
            (PaymentState::Approved, OrderStatus::Confirmed),
            (PaymentState::Pending, OrderStatus::Ordered),
            (PaymentState::Rejected, OrderStatus::Ordered),
        ] {
            assert_eq!(payment.confirms(), status);
        }
    }

    #[test]
    fn nothing_and_for_nothing_cannot_be_ordered() {
        let requests = [
            OrderRequest { quantity: 0, ..request() },
            OrderRequest { amount: 0, ..request() },
            OrderRequest { amount: -1, ..request() },
        ];
        for request in requests {
            let error = request.into_order().unwrap_err();
            assert!(matches!(error, OrderError::Invalid(_)), "{error}");
        }
    }
}
