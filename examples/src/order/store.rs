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
             (idempotency_key, order_id, user_id, sku, quantity, amount, status, payment_status, \
             placed_at) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (idempotency_key) DO NOTHING",
        )
        .bind(key)
        .bind(&order.order_id)
        .bind(order.user_id)
        .bind(&order.sku)
        .bind(order.quantity)
        .bind(order.amount)
        .bind(order.status)
        .bind(order.payment_status)
        .bind(now())
        .execute(&self.pool)
        .await?;
        Ok(inserted.rows_affected() == 1)
    }

    /// Takes note that the payment service is about to be asked, and says whether it may be: not once
    /// the order is being withdrawn. From here on it never is.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn begin_payment(&self, order: &Order) -> sqlx::Result<bool> {
        let begun = sqlx::query(
            "UPDATE orders SET payment_begun = 1, touched_at = ?2 \
             WHERE order_id = ?1 AND withdrawing = 0",
        )
        .bind(&order.order_id)
        .bind(now())
        .execute(&self.pool)
        .await?;
        Ok(begun.rows_affected() == 1)
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

    /// Goes on with an order that somebody else has written down, and says whether that may be: not once
    /// it is being withdrawn. From here on whoever has written it down does not
    /// [withdraw](Self::begin_withdrawal) it.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn take_up(&self, order: &Order) -> sqlx::Result<bool> {
        let taken_up = sqlx::query(
            "UPDATE orders SET touched_at = ?2 WHERE order_id = ?1 AND withdrawing = 0",
        )
        .bind(&order.order_id)
        .bind(now())
        .execute(&self.pool)
        .await?;
        Ok(taken_up.rows_affected() == 1)
    }

    /// Puts an order behind all others that wait for a sweep.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn touch(&self, order: &Order) -> sqlx::Result<()> {
        sqlx::query("UPDATE orders SET touched_at = ?2 WHERE order_id = ?1")
            .bind(&order.order_id)
            .bind(now())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Stores what became of this payment of the order, if that is not known yet, and says whether it was
    /// not. Of two who bring an approval or a rejection, one is told so; PENDING changes nothing.
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

    /// Begins to take back an order, and says whether that was done: it is not once anybody has gone on
    /// with it, who needs its reservation and may have charged, nor where somebody else has begun that.
    /// There is no way back from here.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn begin_withdrawal(&self, order_id: &str) -> sqlx::Result<bool> {
        let begun = sqlx::query(
            "UPDATE orders SET withdrawing = 1 \
             WHERE order_id = ? AND touched_at = 0 AND withdrawing = 0",
        )
        .bind(order_id)
        .execute(&self.pool)
        .await?;
        Ok(begun.rows_affected() == 1)
    }

    /// Begins to take back every order of that age whose payment nobody has begun, and says how many
    /// there are.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn withdraw_abandoned(&self, age: Duration) -> sqlx::Result<u64> {
        let abandoned = sqlx::query(
            "UPDATE orders SET withdrawing = 1 \
             WHERE payment_begun = 0 AND placed_at <= ?1 AND touched_at <= ?1 \
             AND payment_status = 'PENDING' AND withdrawing = 0",
        )
        .bind(before(age))
        .execute(&self.pool)
        .await?;
        Ok(abandoned.rows_affected())
    }

    /// The orders that are being withdrawn, those first that were looked at longest ago.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn withdrawing(&self, most: u32) -> sqlx::Result<Vec<Order>> {
        sqlx::query_as(
            "SELECT * FROM orders WHERE payment_begun = 0 AND withdrawing = 1 \
             ORDER BY touched_at LIMIT ?",
        )
        .bind(most)
        .fetch_all(&self.pool)
        .await
    }

    /// Forgets an order that is being withdrawn; a no-op where it is forgotten already.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn remove_withdrawn(&self, order_id: &str) -> sqlx::Result<()> {
        sqlx::query("DELETE FROM orders WHERE order_id = ? AND withdrawing = 1")
            .bind(order_id)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Finds an order. One that is being withdrawn is none any more.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn find(&self, order_id: &str) -> sqlx::Result<Option<Order>> {
        sqlx::query_as("SELECT * FROM orders WHERE order_id = ? AND withdrawing = 0")
            .bind(order_id)
            .fetch_optional(&self.pool)
            .await
    }

    /// Finds the order that the client's key names, also one that is being withdrawn and still has it.
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
            let ago = "UPDATE orders SET placed_at = 1, touched_at = min(touched_at, 1)";
            sqlx::query(ago).execute(&self.store.pool).await.unwrap();
        }
    }

    #[tokio::test]
    async fn an_order_that_is_paid_anew_is_on_its_way_and_not_yet_pending() {
        let stored = Stored::new().await;
        let Stored { store, order, .. } = &stored;
        assert!(store.begin_payment(order).await.unwrap());
        store.settle(order, PaymentState::Rejected).await.unwrap();
        stored.long_ago().await;
        assert!(store.pay_anew(order).await.unwrap());
        assert_eq!(store.pending(LONG, 9).await.unwrap(), [], "who pays it will ask");
        assert_eq!(store.pending(Duration::ZERO, 9).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn an_order_is_gone_on_with_or_withdrawn_and_never_both() {
        let gone_on_with = Stored::new().await;
        let Stored { store, order, .. } = &gone_on_with;
        assert!(store.take_up(order).await.unwrap());
        assert!(!store.begin_withdrawal(&order.order_id).await.unwrap());
        assert!(store.find(&order.order_id).await.unwrap().is_some());

        let withdrawn = Stored::new().await;
        let Stored { store, order, .. } = &withdrawn;
        assert!(store.begin_withdrawal(&order.order_id).await.unwrap());
        assert!(!store.begin_withdrawal(&order.order_id).await.unwrap(), "once");
        assert!(!store.take_up(order).await.unwrap());
        assert!(!store.begin_payment(order).await.unwrap(), "nobody is charged for it");
        assert_eq!(store.find(&order.order_id).await.unwrap(), None);
        store.remove_withdrawn(&order.order_id).await.unwrap();
        assert_eq!(store.find_by_key("k").await.unwrap(), None, "the key is free");
    }

    #[tokio::test]
    async fn an_order_is_abandoned_once_nobody_has_begun_its_payment_for_long() {
        let stored = Stored::new().await;
        let Stored { store, order, .. } = &stored;
        assert_eq!(store.withdraw_abandoned(LONG).await.unwrap(), 0, "it is just being placed");
        stored.long_ago().await;
        store.take_up(order).await.unwrap();
        assert_eq!(store.withdraw_abandoned(LONG).await.unwrap(), 0, "it is just gone on with");
        stored.long_ago().await;
        assert_eq!(store.withdraw_abandoned(LONG).await.unwrap(), 1);
        assert_eq!(store.withdrawing(9).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn an_order_whose_payment_was_begun_is_never_abandoned_nor_removed() {
        let stored = Stored::new().await;
        let Stored { store, order, .. } = &stored;
        store.begin_payment(order).await.unwrap();
        stored.long_ago().await;
        assert_eq!(store.withdraw_abandoned(LONG).await.unwrap(), 0);
        store.remove_withdrawn(&order.order_id).await.unwrap();
        assert!(store.find(&order.order_id).await.unwrap().is_some());
    }
}
