use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use sqlx::SqlitePool;

use super::{Order, PaymentState, Product};
use crate::database::{self, Connections, OpenError};

/// The tables of the order service.
///
/// Every method is one statement, committed when it returns: no transaction can be open while
/// another service is called.
#[derive(Debug, Clone)]
pub struct OrderStore {
    pool: SqlitePool,
}

impl OrderStore {
    /// Opens the database file, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or brought up to date.
    pub async fn open(path: &Path) -> Result<Self, OpenError> {
        let pool = database::open(path, &sqlx::migrate!("migrations/order")).await?;
        Ok(Self { pool })
    }

    /// Writes down a new order, under the client's key if it gave one. Says whether the key was free: of
    /// two who try, one succeeds.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn insert(&self, key: Option<&str>, order: &Order) -> sqlx::Result<bool> {
        let inserted = sqlx::query(
            "INSERT INTO orders \
             (idempotency_key, order_id, user_id, sku, quantity, amount, status, payment_status) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (idempotency_key) DO NOTHING",
        )
        .bind(key)
        .bind(&order.order_id)
        .bind(order.user_id)
        .bind(&order.sku)
        .bind(order.quantity)
        .bind(order.amount)
        .bind(order.status)
        .bind(order.payment_status)
        .execute(&self.pool)
        .await?;
        Ok(inserted.rows_affected() == 1)
    }

    /// Takes note that the payment service is about to be asked.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn begin_payment(&self, order: &Order) -> sqlx::Result<()> {
        sqlx::query("UPDATE orders SET payment_begun = 1, touched_at = ?2 WHERE order_id = ?1")
            .bind(&order.order_id)
            .bind(now())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Begins a payment anew, if the last one was declined. Of two who try, one succeeds.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn pay_anew(&self, order: &Order) -> sqlx::Result<bool> {
        let anew = sqlx::query(
            "UPDATE orders SET payment_status = 'PENDING', payment_attempt = payment_attempt + 1, \
             touched_at = ?3 \
             WHERE order_id = ?1 AND payment_status = 'REJECTED' AND payment_attempt = ?2",
        )
        .bind(&order.order_id)
        .bind(order.payment_attempt)
        .bind(now()) // it is on its way, and not for others to ask for
        .execute(&self.pool)
        .await?;
        Ok(anew.rows_affected() == 1)
    }

    /// The orders whose payment was begun and is pending, those first that were looked at longest ago.
    /// Those that are not that old are left out: whoever has begun the payment may only now ask for it.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn pending(&self, age: Duration, most: u32) -> sqlx::Result<Vec<Order>> {
        sqlx::query_as(
            "SELECT * FROM orders WHERE payment_status = 'PENDING' AND payment_begun = 1 \
             AND touched_at <= ? ORDER BY touched_at LIMIT ?",
        )
        .bind(before(age))
        .bind(most)
        .fetch_all(&self.pool)
        .await
    }

    /// Puts an order behind all others that are pending, and says whether it is still there. From here
    /// on it is not [withdrawn](Self::withdraw).
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn touch(&self, order: &Order) -> sqlx::Result<bool> {
        let touched = sqlx::query("UPDATE orders SET touched_at = ?2 WHERE order_id = ?1")
            .bind(&order.order_id)
            .bind(now())
            .execute(&self.pool)
            .await?;
        Ok(touched.rows_affected() == 1)
    }

    /// Stores what became of this payment of the order, if that is not known yet. Of two who bring the
    /// same outcome, one is told that it was.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn settle(&self, order: &Order, state: PaymentState) -> sqlx::Result<bool> {
        let settled = sqlx::query(
            "UPDATE orders SET status = ?3, payment_status = ?4 \
             WHERE order_id = ?1 AND payment_attempt = ?2 AND payment_status = 'PENDING'",
        )
        .bind(&order.order_id)
        .bind(order.payment_attempt)
        .bind(state.confirms())
        .bind(state)
        .execute(&self.pool)
        .await?;
        Ok(settled.rows_affected() == 1)
    }

    /// Takes back an order that nothing is reserved for, and says whether that was done: it is not once
    /// anybody has gone on with it, who may have charged or have told the client that it stands.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn withdraw(&self, order_id: &str) -> sqlx::Result<bool> {
        let withdrawn = sqlx::query("DELETE FROM orders WHERE order_id = ? AND touched_at = 0")
            .bind(order_id)
            .execute(&self.pool)
            .await?;
        Ok(withdrawn.rows_affected() == 1)
    }

    /// Finds an order.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn find(&self, order_id: &str) -> sqlx::Result<Option<Order>> {
        sqlx::query_as("SELECT * FROM orders WHERE order_id = ?")
            .bind(order_id)
            .fetch_optional(&self.pool)
            .await
    }

    /// Finds the order that the client's key names.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn find_by_key(&self, key: &str) -> sqlx::Result<Option<Order>> {
        sqlx::query_as("SELECT * FROM orders WHERE idempotency_key = ?")
            .bind(key)
            .fetch_optional(&self.pool)
            .await
    }

    /// Finds a product.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn product(&self, sku: &str) -> sqlx::Result<Option<Product>> {
        sqlx::query_as("SELECT sku, name, price FROM products WHERE sku = ?")
            .bind(sku)
            .fetch_optional(&self.pool)
            .await
    }

    /// Lists what is sold.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn products(&self) -> sqlx::Result<Vec<Product>> {
        sqlx::query_as("SELECT sku, name, price FROM products ORDER BY sku")
            .fetch_all(&self.pool)
            .await
    }

    /// A look at the connections to the database.
    pub fn connections(&self) -> Connections {
        Connections::of(&self.pool)
    }

    /// Says whether the database answers.
    pub async fn is_ready(&self) -> bool {
        database::is_ready(&self.pool).await
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    millis(SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default())
}

/// When something happened that is of this age now.
fn before(age: Duration) -> i64 {
    now().saturating_sub(millis(age))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{super::OrderRequest, *};

    const LONG: Duration = Duration::from_mins(1);

    struct Stored {
        store: OrderStore,
        order: Order,
        _directory: tempfile::TempDir,
    }

    impl Stored {
        async fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let store = OrderStore::open(&directory.path().join("order.db")).await.unwrap();
            let request =
                OrderRequest { user_id: 1, sku: "book".into(), quantity: 1, amount: 12_000 };
            let order = request.into_order().unwrap();
            assert!(store.insert(Some("k"), &order).await.unwrap());
            Self { store, order, _directory: directory }
        }

        /// Lets everything that was done so far be long ago.
        async fn long_ago(&self) {
            let ago = "UPDATE orders SET touched_at = min(touched_at, 1)";
            sqlx::query(ago).execute(&self.store.pool).await.unwrap();
        }
    }

    #[tokio::test]
    async fn an_order_that_is_paid_anew_is_on_its_way_and_not_yet_pending() {
        let stored = Stored::new().await;
        let Stored { store, order, .. } = &stored;
        store.begin_payment(order).await.unwrap();
        store.settle(order, PaymentState::Rejected).await.unwrap();
        stored.long_ago().await;
        assert!(store.pay_anew(order).await.unwrap());
        assert_eq!(store.pending(LONG, 9).await.unwrap(), [], "who pays it will ask");
        assert_eq!(store.pending(Duration::ZERO, 9).await.unwrap().len(), 1);
    }
}
