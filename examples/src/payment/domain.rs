use serde::{Deserialize, Serialize};

/// What is known about a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[sqlx(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentStatus {
    /// Written down; the provider is being asked.
    Requested,
    /// The provider took the money.
    Approved,
    /// The provider declined.
    Rejected,
    /// Unknown: there was no answer, and the provider may have charged.
    Timeout,
}

/// What `POST /payments` takes; the `Idempotency-Key` header names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentRequest {
    /// The order that is paid.
    pub order_id: String,
    /// The amount, above 0, in the smallest unit of the currency.
    pub amount: i64,
}

/// A payment as it is stored and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, sqlx::FromRow)]
pub struct Payment {
    /// The key that names the payment, here and at the provider.
    pub idempotency_key: String,
    /// The order that is paid.
    pub order_id: String,
    /// The amount, in the smallest unit of the currency.
    pub amount: i64,
    /// What is known about it.
    pub status: PaymentStatus,
}

impl Payment {
    /// Says whether the payment is what this request asks for.
    pub fn answers(&self, request: &PaymentRequest) -> bool {
        self.order_id == request.order_id && self.amount == request.amount
    }
}
