use serde::{Deserialize, Serialize};

/// What is known about a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[sqlx(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentStatus {
    /// Written down; a provider is being asked, or the payment waits in the queue for one.
    Requested,
    /// The provider took the money.
    Approved,
    /// The provider declined.
    Rejected,
    /// Unknown: there was no answer, and the provider may have charged.
    Timeout,
}

/// Who brought the outcome of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[sqlx(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SettledBy {
    /// The provider, when it was asked for the money.
    Answer,
    /// The provider, by itself.
    Callback,
    /// The reconciler, which asked later.
    Reconciler,
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
    /// The key that names the payment.
    pub idempotency_key: String,
    /// The order that is paid.
    pub order_id: String,
    /// The amount, in the smallest unit of the currency.
    pub amount: i64,
    /// What is known about it.
    pub status: PaymentStatus,
    /// Who is asked for the money, or was. Without one, a requested payment waits in the queue.
    pub provider: Option<String>,
    /// Who brought the outcome.
    pub settled_by: Option<SettledBy>,
    /// What names the charge at the provider; who has it can ask for the outcome.
    #[serde(skip)]
    pub charge_key: Option<String>,
}

impl Payment {
    /// Says whether the payment is what this request asks for.
    pub fn answers(&self, request: &PaymentRequest) -> bool {
        self.order_id == request.order_id && self.amount == request.amount
    }

    /// Says whether no provider could be asked so far.
    pub fn is_queued(&self) -> bool {
        self.status == PaymentStatus::Requested && self.provider.is_none()
    }
}

/// What the provider reports by itself, signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// The payment, by the name under which the provider was asked for it.
    pub reference: String,
    /// What became of it.
    pub verdict: crate::pg::Verdict,
}
