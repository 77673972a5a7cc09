use std::path::Path;

use sqlx::{Sqlite, SqlitePool, Transaction};

use super::{Reservation, StockError};
use crate::database::{self, Connections, OpenError};

/// The tables of the inventory service.
#[derive(Debug, Clone)]
pub struct StockStore {
    pool: SqlitePool,
}

impl StockStore {
    /// Opens the database file, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or brought up to date.
    pub async fn open(path: &Path) -> Result<Self, OpenError> {
        let pool = database::open(path, &sqlx::migrate!("migrations/inventory")).await?;
        Ok(Self { pool })
    }

    /// Keeps stock for an order.
    ///
    /// # Errors
    ///
    /// If the sku is unknown or sold out, or the order has a reservation of something else.
    ///
    /// # Cancel safety
    ///
    /// All or nothing: dropping the future rolls back.
    pub async fn reserve(&self, wanted: &Reservation) -> Result<(), StockError> {
        if wanted.quantity == 0 {
            return Err(StockError::NoQuantity);
        }
        // The first statement writes, so that the transaction holds the write lock from its start
        // and cannot fail half-way because another writer came in between.
        let mut transaction = self.pool.begin().await?;
        let taken = sqlx::query(
            "UPDATE stock SET available = available - ?2 WHERE sku = ?1 AND available >= ?2",
        )
        .bind(&wanted.sku)
        .bind(wanted.quantity)
        .execute(&mut *transaction)
        .await?
        .rows_affected();

        if let Some(kept) = kept_for(&mut transaction, &wanted.order_id).await? {
            // Dropping the transaction gives back what was just taken.
            return if kept == *wanted {
                Ok(())
            } else {
                Err(StockError::AnotherReservation(wanted.order_id.clone()))
            };
        }
        if taken == 0 {
            return Err(missing(&mut transaction, &wanted.sku).await?);
        }
        sqlx::query("INSERT INTO reservations (order_id, sku, quantity) VALUES (?, ?, ?)")
            .bind(&wanted.order_id)
            .bind(&wanted.sku)
            .bind(wanted.quantity)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Gives back what is kept for an order; a no-op where nothing is.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn release(&self, order_id: &str) -> Result<(), StockError> {
        let mut transaction = self.pool.begin().await?;
        let kept: Option<(String, u32)> =
            sqlx::query_as("DELETE FROM reservations WHERE order_id = ? RETURNING sku, quantity")
                .bind(order_id)
                .fetch_optional(&mut *transaction)
                .await?;
        if let Some((sku, quantity)) = kept {
            sqlx::query("UPDATE stock SET available = available + ? WHERE sku = ?")
                .bind(quantity)
                .bind(sku)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(())
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

async fn kept_for(
    transaction: &mut Transaction<'_, Sqlite>,
    order_id: &str,
) -> Result<Option<Reservation>, sqlx::Error> {
    let row: Option<(String, u32)> =
        sqlx::query_as("SELECT sku, quantity FROM reservations WHERE order_id = ?")
            .bind(order_id)
            .fetch_optional(&mut **transaction)
            .await?;
    Ok(row.map(|(sku, quantity)| Reservation { order_id: order_id.to_owned(), sku, quantity }))
}

/// Tells a sku that nobody sells from one that is sold out.
async fn missing(
    transaction: &mut Transaction<'_, Sqlite>,
    sku: &str,
) -> Result<StockError, sqlx::Error> {
    let known = sqlx::query("SELECT 1 FROM stock WHERE sku = ?")
        .bind(sku)
        .fetch_optional(&mut **transaction)
        .await?
        .is_some();
    let sku = sku.to_owned();
    Ok(if known { StockError::OutOfStock(sku) } else { StockError::UnknownSku(sku) })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn store() -> (StockStore, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let store = StockStore::open(&directory.path().join("inventory.db")).await.unwrap();
        (store, directory)
    }

    async fn available(store: &StockStore, sku: &str) -> i64 {
        sqlx::query_scalar("SELECT available FROM stock WHERE sku = ?")
            .bind(sku)
            .fetch_one(&store.pool)
            .await
            .unwrap()
    }

    fn wanted(order_id: &str, quantity: u32) -> Reservation {
        Reservation { order_id: order_id.into(), sku: "book".into(), quantity }
    }

    #[tokio::test]
    async fn a_reservation_asked_for_twice_takes_stock_once() {
        let (store, _directory) = store().await;
        let before = available(&store, "book").await;
        store.reserve(&wanted("o", 3)).await.unwrap();
        store.reserve(&wanted("o", 3)).await.unwrap();
        assert_eq!(available(&store, "book").await, before - 3);
    }

    #[tokio::test]
    async fn an_order_cannot_change_its_reservation_by_asking_again() {
        let (store, _directory) = store().await;
        let before = available(&store, "book").await;
        store.reserve(&wanted("o", 3)).await.unwrap();
        let error = store.reserve(&wanted("o", 4)).await.unwrap_err();
        assert!(matches!(error, StockError::AnotherReservation(_)), "{error}");
        assert_eq!(available(&store, "book").await, before - 3);
    }

    #[tokio::test]
    async fn a_release_gives_stock_back_once_however_often_it_is_asked_for() {
        let (store, _directory) = store().await;
        let before = available(&store, "book").await;
        store.reserve(&wanted("o", 3)).await.unwrap();
        store.release("o").await.unwrap();
        store.release("o").await.unwrap();
        assert_eq!(available(&store, "book").await, before);
    }

    #[tokio::test]
    async fn what_is_sold_out_and_what_is_not_sold_are_told_apart() {
        let (store, _directory) = store().await;
        let unicorn = Reservation { sku: "unicorn".into(), ..wanted("o", 1) };
        let nothing = Reservation { sku: "nothing".into(), ..wanted("o", 1) };
        let sold_out = store.reserve(&unicorn).await.unwrap_err();
        let unknown = store.reserve(&nothing).await.unwrap_err();
        assert!(matches!(sold_out, StockError::OutOfStock(_)), "{sold_out}");
        assert!(matches!(unknown, StockError::UnknownSku(_)), "{unknown}");
    }
}
