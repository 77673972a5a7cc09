use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use resilience::IdempotencyKey;
use sqlx::SqlitePool;

use super::{Payment, PaymentRequest, PaymentStatus, SettledBy};
use crate::database::{self, Connections, OpenError};

/// The table of the payment service.
///
/// Every method is one statement, or two of which the second reads, committed when it returns: nothing
/// can stay open while a provider is asked. Where several come with an outcome at once, the condition
/// of the statement lets the first one through.
#[derive(Debug, Clone)]
pub struct PaymentStore {
    pool: SqlitePool,
}

/// What writing down a payment found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// The payment is new, and its provider is to be asked.
    New(Payment),
    /// The key already names this payment.
    Existing(Payment),
}

/// What became of an attempt to settle a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The payment as it stands now.
    pub payment: Payment,
    /// Whether this attempt settled it; the others change nothing.
    pub is_first: bool,
}

const COLUMNS: &str = "idempotency_key, order_id, amount, status, provider, settled_by, charge_key";

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

    /// Writes down a payment as REQUESTED of this provider, or finds the one that the key already
    /// names.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn create(
        &self,
        key: &str,
        request: &PaymentRequest,
        provider: &str,
    ) -> sqlx::Result<Created> {
        let new = sqlx::query(
            "INSERT INTO payments \
             (idempotency_key, order_id, amount, status, provider, charge_key, touched_at) \
             VALUES (?, ?, ?, 'REQUESTED', ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .bind(key)
        .bind(&request.order_id)
        .bind(request.amount)
        .bind(provider)
        .bind(IdempotencyKey::random().to_string())
        .bind(now())
        .execute(&self.pool)
        .await?
        .rows_affected();
        // Payments are never deleted: what kept the insert from happening is still there.
        let payment = self.find(key).await?.ok_or(sqlx::Error::RowNotFound)?;
        Ok(if new == 1 { Created::New(payment) } else { Created::Existing(payment) })
    }

    /// Hands a payment that nobody was asked for from one provider to another, or to the queue, which
    /// is `None`. Says whether it was there to be handed on: of two who try, one succeeds.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn hand(
        &self,
        key: &str,
        from: Option<&str>,
        to: Option<&str>,
    ) -> sqlx::Result<bool> {
        let handed = sqlx::query(
            "UPDATE payments SET provider = ?3, touched_at = ?4 \
             WHERE idempotency_key = ?1 AND status = 'REQUESTED' AND provider IS ?2",
        )
        .bind(key)
        .bind(from)
        .bind(to)
        .bind(now())
        .execute(&self.pool)
        .await?;
        Ok(handed.rows_affected() == 1)
    }

    /// Puts a payment into the queue whose outcome was unknown, as this provider has never seen it and
    /// does not take it. Says whether it was there to be put: of two who try, one succeeds.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn queue_again(&self, key: &str, from: &str) -> sqlx::Result<bool> {
        let queued = sqlx::query(
            "UPDATE payments SET status = 'REQUESTED', provider = NULL, touched_at = ?3 \
             WHERE idempotency_key = ?1 AND status = 'TIMEOUT' AND provider = ?2",
        )
        .bind(key)
        .bind(from)
        .bind(now())
        .execute(&self.pool)
        .await?;
        Ok(queued.rows_affected() == 1)
    }

    /// Takes note that the outcome of a payment is unknown, unless it is settled by now.
    ///
    /// # Errors
    ///
    /// If there is no such payment or the database fails.
    pub async fn leave_open(&self, key: &str) -> sqlx::Result<Payment> {
        sqlx::query(
            "UPDATE payments SET status = 'TIMEOUT', touched_at = ?2 \
             WHERE idempotency_key = ?1 AND status = 'REQUESTED'",
        )
        .bind(key)
        .bind(now())
        .execute(&self.pool)
        .await?;
        self.find(key).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Settles a payment, unless it is settled already.
    ///
    /// # Errors
    ///
    /// If there is no such payment or the database fails.
    pub async fn settle(
        &self,
        key: &str,
        status: PaymentStatus,
        by: SettledBy,
    ) -> sqlx::Result<Settlement> {
        let settled = sqlx::query(
            "UPDATE payments SET status = ?2, settled_by = ?3, touched_at = ?4 \
             WHERE idempotency_key = ?1 AND status IN ('REQUESTED', 'TIMEOUT')",
        )
        .bind(key)
        .bind(status)
        .bind(by)
        .bind(now())
        .execute(&self.pool)
        .await?;
        let payment = self.find(key).await?.ok_or(sqlx::Error::RowNotFound)?;
        Ok(Settlement { payment, is_first: settled.rows_affected() == 1 })
    }

    /// Takes note that the outcome of every payment is unknown whose provider was asked so long ago
    /// that nobody can still be waiting for the answer: who did has died. Returns how many there were.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn leave_abandoned_open(&self, after: Duration) -> sqlx::Result<u64> {
        let abandoned = sqlx::query(
            "UPDATE payments SET status = 'TIMEOUT' \
             WHERE status = 'REQUESTED' AND provider IS NOT NULL AND touched_at <= ?",
        )
        .bind(now().saturating_sub(millis(after)))
        .execute(&self.pool)
        .await?;
        Ok(abandoned.rows_affected())
    }

    /// The payments whose outcome is unknown, those first that were looked at longest ago.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn open_payments(&self, most: u32) -> sqlx::Result<Vec<Payment>> {
        self.list("status = 'TIMEOUT' AND provider IS NOT NULL", most).await
    }

    /// The payments that wait for a provider, those first that have waited longest.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn queued(&self, most: u32) -> sqlx::Result<Vec<Payment>> {
        self.list("status = 'REQUESTED' AND provider IS NULL", most).await
    }

    /// Puts an open payment behind all others that are open.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn touch(&self, key: &str) -> sqlx::Result<()> {
        sqlx::query("UPDATE payments SET touched_at = ?2 WHERE idempotency_key = ?1")
            .bind(key)
            .bind(now())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Finds the payment that the key names.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn find(&self, key: &str) -> sqlx::Result<Option<Payment>> {
        sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM payments WHERE idempotency_key = ?"
        )))
        .bind(key)
        .fetch_optional(&self.pool)
        .await
    }

    /// Says whether the database answers.
    pub async fn is_ready(&self) -> bool {
        database::is_ready(&self.pool).await
    }

    /// A look at the connections to the database.
    pub fn connections(&self) -> Connections {
        Connections::of(&self.pool)
    }

    async fn list(&self, which: &'static str, most: u32) -> sqlx::Result<Vec<Payment>> {
        sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM payments WHERE {which} ORDER BY touched_at LIMIT ?"
        )))
        .bind(most)
        .fetch_all(&self.pool)
        .await
    }
}

fn now() -> i64 {
    millis(SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default())
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
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

    async fn requested(store: &PaymentStore, key: &str) -> Payment {
        match store.create(key, &request(), "A").await.unwrap() {
            Created::New(payment) => payment,
            Created::Existing(payment) => panic!("{payment:?}"),
        }
    }

    #[tokio::test]
    async fn a_key_is_written_down_once_with_one_name_for_the_charge() {
        let (store, _directory) = store().await;
        let payment = requested(&store, "k").await;
        assert!(payment.charge_key.as_ref().unwrap().parse::<IdempotencyKey>().is_ok());
        let again = store.create("k", &request(), "B").await.unwrap();
        assert_eq!(again, Created::Existing(payment));
    }

    #[tokio::test]
    async fn a_settled_payment_keeps_its_first_outcome() {
        let (store, _directory) = store().await;
        requested(&store, "k").await;
        let first = store.settle("k", PaymentStatus::Approved, SettledBy::Answer).await.unwrap();
        assert!(first.is_first);
        let late = store.settle("k", PaymentStatus::Rejected, SettledBy::Callback).await.unwrap();
        assert_eq!((late.is_first, late.payment), (false, first.payment.clone()));
        assert_eq!(store.leave_open("k").await.unwrap(), first.payment);
    }

    #[tokio::test]
    async fn an_unknown_payment_can_still_be_settled() {
        let (store, _directory) = store().await;
        requested(&store, "k").await;
        assert_eq!(store.leave_open("k").await.unwrap().status, PaymentStatus::Timeout);
        let by = SettledBy::Callback;
        let settled = store.settle("k", PaymentStatus::Approved, by).await.unwrap();
        assert_eq!(settled.payment.status, PaymentStatus::Approved);
        assert_eq!((settled.is_first, settled.payment.settled_by), (true, Some(by)));
    }

    #[tokio::test]
    async fn a_payment_is_handed_on_by_one_only_and_never_once_its_outcome_may_be_unknown() {
        let (store, _directory) = store().await;
        requested(&store, "k").await;
        assert!(!store.hand("k", None, Some("B")).await.unwrap(), "A has it");
        assert!(store.hand("k", Some("A"), None).await.unwrap());
        assert_eq!(store.queued(9).await.unwrap().len(), 1);
        assert!(store.hand("k", None, Some("B")).await.unwrap());
        assert!(!store.hand("k", None, Some("C")).await.unwrap(), "B has it");
        store.leave_open("k").await.unwrap();
        assert!(!store.hand("k", Some("B"), Some("C")).await.unwrap(), "B may have charged");
    }

    #[tokio::test]
    async fn only_what_was_asked_long_ago_is_abandoned() {
        let (store, _directory) = store().await;
        requested(&store, "asked").await;
        requested(&store, "queued").await;
        store.hand("queued", Some("A"), None).await.unwrap();
        assert_eq!(store.leave_abandoned_open(Duration::from_mins(1)).await.unwrap(), 0);
        assert_eq!(store.leave_abandoned_open(Duration::ZERO).await.unwrap(), 1);
        let open = store.open_payments(9).await.unwrap();
        assert_eq!(open.iter().map(|p| &*p.idempotency_key).collect::<Vec<_>>(), ["asked"]);
    }

    #[tokio::test]
    async fn what_was_looked_at_stands_behind_the_others() {
        let (store, _directory) = store().await;
        for key in ["a", "b"] {
            requested(&store, key).await;
            store.leave_open(key).await.unwrap();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        store.touch("a").await.unwrap();
        assert_eq!(store.open_payments(1).await.unwrap()[0].idempotency_key, "b");
    }
}
