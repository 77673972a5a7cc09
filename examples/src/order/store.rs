use std::path::Path;

use sqlx::SqlitePool;

use super::{Order, Product};
use crate::database::{self, OpenError};

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

    /// Writes down a new order, under the client's key if it gave one.
    ///
    /// # Errors
    ///
    /// If the key names an order already or the database fails.
    pub async fn insert(&self, key: Option<&str>, order: &Order) -> sqlx::Result<()> {
        sqlx::query(
            "INSERT INTO orders \
             (idempotency_key, order_id, user_id, sku, quantity, amount, status, payment_status) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
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
        Ok(())
    }

    /// Stores what became of the payment, unless the order is confirmed already.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn update_payment(&self, order: &Order) -> sqlx::Result<()> {
        sqlx::query(
            "UPDATE orders SET status = ?2, payment_status = ?3 \
             WHERE order_id = ?1 AND status <> 'CONFIRMED'",
        )
        .bind(&order.order_id)
        .bind(order.status)
        .bind(order.payment_status)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Takes back an order that nothing is reserved for.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn withdraw(&self, order_id: &str) -> sqlx::Result<()> {
        sqlx::query("DELETE FROM orders WHERE order_id = ?")
            .bind(order_id)
            .execute(&self.pool)
            .await?;
        Ok(())
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

    /// Says whether the database answers.
    pub async fn is_ready(&self) -> bool {
        database::is_ready(&self.pool).await
    }
}
