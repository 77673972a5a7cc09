use std::path::Path;

use sqlx::SqlitePool;

use super::{Payment, PaymentRequest, PaymentStatus};
use crate::database::{self, OpenError};

/// The table of the payment service.
#[derive(Debug, Clone)]
pub struct PaymentStore {
    pool: SqlitePool,
}

/// What writing down a payment found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// The payment is new, and the provider is to be asked.
    New,
    /// The key already names this payment.
    Existing(Payment),
}

impl PaymentStore {
    /// Opens the database file, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or brought up to date.
    pub async fn open(path: &Path) -> Result<Self, OpenError> {
        let pool = database::open(path, &sqlx::migrate!("migrations/payment")).await?;
        Ok(Self { pool })
    }

    /// Writes down a payment as REQUESTED, or finds the one that the key already names.
    ///
    /// A single statement, committed when it returns: nothing stays open while the provider is
    /// asked.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn create(&self, key: &str, request: &PaymentRequest) -> sqlx::Result<Created> {
        let new = sqlx::query(
            "INSERT INTO payments (idempotency_key, order_id, amount, status) \
             VALUES (?, ?, ?, 'REQUESTED') ON CONFLICT DO NOTHING",
        )
        .bind(key)
        .bind(&request.order_id)
        .bind(request.amount)
        .execute(&self.pool)
        .await?
        .rows_affected();
        if new == 1 {
            return Ok(Created::New);
        }
        // Payments are never deleted: what kept the insert from happening is still there.
        self.find(key).await?.map(Created::Existing).ok_or(sqlx::Error::RowNotFound)
    }

    /// Stores what became of a payment, unless that is settled already, and returns the payment.
    ///
    /// # Errors
    ///
    /// If there is no such payment or the database fails.
    pub async fn settle(&self, key: &str, status: PaymentStatus) -> sqlx::Result<Payment> {
        sqlx::query(
            "UPDATE payments SET status = ?2 \
             WHERE idempotency_key = ?1 AND status IN ('REQUESTED', 'TIMEOUT')",
        )
        .bind(key)
        .bind(status)
        .execute(&self.pool)
        .await?;
        self.find(key).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Finds the payment that the key names.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn find(&self, key: &str) -> sqlx::Result<Option<Payment>> {
        sqlx::query_as(
            "SELECT idempotency_key, order_id, amount, status FROM payments \
             WHERE idempotency_key = ?",
        )
        .bind(key)
        .fetch_optional(&self.pool)
        .await
    }

    /// Says whether the database answers.
    pub async fn is_ready(&self) -> bool {
        database::is_ready(&self.pool).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn store() -> (PaymentStore, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let store = PaymentStore::open(&directory.path().join("payment.db")).await.unwrap();
        (store, directory)
    }

    fn request() -> PaymentRequest {
        PaymentRequest { order_id: "o".into(), amount: 100 }
    }

    #[tokio::test]
    async fn a_key_is_written_down_once() {
        let (store, _directory) = store().await;
        assert_eq!(store.create("k", &request()).await.unwrap(), Created::New);
        let again = store.create("k", &request()).await.unwrap();
        assert!(matches!(again, Created::Existing(p) if p.status == PaymentStatus::Requested));
    }

    #[tokio::test]
    async fn a_settled_payment_keeps_its_first_outcome() {
        let (store, _directory) = store().await;
        store.create("k", &request()).await.unwrap();
        store.settle("k", PaymentStatus::Approved).await.unwrap();
        let late = store.settle("k", PaymentStatus::Timeout).await.unwrap();
        assert_eq!(late.status, PaymentStatus::Approved);
    }

    #[tokio::test]
    async fn an_unknown_payment_can_still_be_settled() {
        let (store, _directory) = store().await;
        store.create("k", &request()).await.unwrap();
        store.settle("k", PaymentStatus::Timeout).await.unwrap();
        let settled = store.settle("k", PaymentStatus::Approved).await.unwrap();
        assert_eq!(settled.status, PaymentStatus::Approved);
    }
}
