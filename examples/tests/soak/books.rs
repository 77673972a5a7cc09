//! Reads the books of all services: their databases, and the providers' ledgers.

use std::{path::Path, time::Duration};

use examples::{order::Order, payment::Payment, pg::Charge};
use reqwest::Client;
use serde::Deserialize;
use sqlx::{Connection, FromRow, SqliteConnection, sqlite::SqliteConnectOptions};

use crate::{
    audit::{Booked, Books, Kept},
    system::{System, Urls},
};

/// A process may have been told to stand still while it writes.
const PATIENCE: Duration = Duration::from_secs(5);

const NOTED: &str = "CREATE TABLE noted (name TEXT NOT NULL)";

/// Has the databases of orders and of payments note what must happen once, and what never.
pub(crate) async fn watch(orders: &Path, payments: &Path) {
    let mut payments = open(payments, PATIENCE).await;
    let mut orders = open(orders, PATIENCE).await;
    for statement in [
        NOTED,
        "CREATE TRIGGER settled AFTER UPDATE OF status ON payments \
         WHEN NEW.status IN ('APPROVED', 'REJECTED') OR OLD.status IN ('APPROVED', 'REJECTED') \
         BEGIN INSERT INTO noted VALUES (NEW.idempotency_key); END",
    ] {
        sqlx::query(statement).execute(&mut payments).await.unwrap();
    }
    for statement in [
        NOTED,
        "CREATE TRIGGER taken_back AFTER UPDATE OF status ON orders \
         WHEN OLD.status = 'CONFIRMED' AND NEW.status <> 'CONFIRMED' \
         BEGIN INSERT INTO noted VALUES (NEW.order_id); END",
        "CREATE TRIGGER lost AFTER DELETE ON orders WHEN OLD.payment_begun = 1 \
         BEGIN INSERT INTO noted VALUES (OLD.order_id); END",
    ] {
        sqlx::query(statement).execute(&mut orders).await.unwrap();
    }
}

async fn noted(connection: &mut SqliteConnection) -> Vec<String> {
    sqlx::query_scalar("SELECT name FROM noted").fetch_all(connection).await.unwrap()
}

impl Books {
    /// The books as they are now, without the mails; the stock at the beginning is that of `before`.
    pub(crate) async fn of(system: &System, client: &Client, before: Option<&Self>) -> Self {
        let mut books = Self { charges: charges(&system.urls, client).await, ..Self::default() };
        let mut orders = open(&system.database("order"), PATIENCE).await;
        let rows = sqlx::query("SELECT * FROM orders").fetch_all(&mut orders).await.unwrap();
        for row in rows {
            let order = Order::from_row(&row).unwrap();
            let is_payment_begun = sqlx::Row::get(&row, "payment_begun");
            books.orders.insert(order.order_id.clone(), Booked { order, is_payment_begun });
        }
        let mut payments = open(&system.database("payment"), PATIENCE).await;
        books.payments = sqlx::query_as::<_, Payment>("SELECT * FROM payments")
            .fetch_all(&mut payments)
            .await
            .unwrap();
        books.settlements = noted(&mut payments).await;
        books.taken_back = noted(&mut orders).await;
        let mut inventory = open(&system.database("inventory"), PATIENCE).await;
        let kept: Vec<(String, String, u32)> =
            sqlx::query_as("SELECT order_id, sku, quantity FROM reservations")
                .fetch_all(&mut inventory)
                .await
                .unwrap();
        books.reservations =
            kept.into_iter().map(|(id, sku, quantity)| (id, Kept { sku, quantity })).collect();
        let stock: Vec<(String, i64)> = sqlx::query_as("SELECT sku, available FROM stock")
            .fetch_all(&mut inventory)
            .await
            .unwrap();
        for (sku, now) in stock {
            let first = before.map_or(now, |before| before.stock[&sku].0);
            books.stock.insert(sku, (first, now));
        }
        books
    }
}

/// Whether nobody holds the lock of a database that every open writing transaction holds.
pub(crate) async fn is_writable(path: &Path) -> bool {
    let mut connection = open(path, Duration::ZERO).await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await.is_ok()
}

async fn charges(urls: &Urls, client: &Client) -> Vec<Charge> {
    #[derive(Deserialize)]
    struct Ledger {
        charges: Vec<Charge>,
    }

    let mut charges = Vec::new();
    for provider in &urls.providers {
        let ledger = client.get(format!("{provider}/ledger")).send().await.unwrap();
        assert_eq!(ledger.status(), 200, "the ledger cannot be read: {ledger:?}");
        charges.extend(ledger.json::<Ledger>().await.unwrap().charges);
    }
    charges
}

async fn open(path: &Path, patience: Duration) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(patience);
    SqliteConnection::connect_with(&options).await.unwrap()
}

#[cfg(test)]
mod tests {
    use examples::{order::OrderStore, payment::PaymentStore};

    use super::*;

    #[tokio::test]
    async fn what_must_never_happen_to_an_order_or_twice_to_a_payment_is_noted_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let [orders, payments] = ["order", "payment"].map(|name| folder.path().join(name));
        OrderStore::open(&orders).await.unwrap();
        PaymentStore::open(&payments).await.unwrap();
        watch(&orders, &payments).await;

        let mut orders = open(&orders, PATIENCE).await;
        let order = "INSERT INTO orders \
             (order_id, user_id, sku, quantity, amount, status, payment_status, payment_begun) VALUES";
        run(&mut orders, &format!("{order} ('back', 1, 'book', 1, 1, 'ORDERED', 'PENDING', 1)"))
            .await;
        run(&mut orders, &format!("{order} ('lost', 1, 'book', 1, 1, 'ORDERED', 'PENDING', 1)"))
            .await;
        run(&mut orders, &format!("{order} ('undone', 1, 'book', 1, 1, 'ORDERED', 'PENDING', 0)"))
            .await;
        let paid = "UPDATE orders SET status = 'CONFIRMED', payment_status = 'APPROVED'";
        run(&mut orders, paid).await;
        run(&mut orders, paid).await;
        run(&mut orders, "DELETE FROM orders WHERE order_id = 'undone'").await;
        assert_eq!(noted(&mut orders).await, [""; 0]);
        let back = "UPDATE orders SET status = 'ORDERED', payment_status = 'PENDING'";
        run(&mut orders, &format!("{back} WHERE order_id = 'back'")).await;
        run(&mut orders, "DELETE FROM orders WHERE order_id = 'lost'").await;
        assert_eq!(noted(&mut orders).await, ["back", "lost"]);

        let mut payments = open(&payments, PATIENCE).await;
        let payment = "INSERT INTO payments \
             (idempotency_key, order_id, amount, status, provider, charge_key, touched_at) VALUES";
        run(&mut payments, &format!("{payment} ('k', 'o', 1, 'REQUESTED', 'A', 'c', 0)")).await;
        run(&mut payments, "UPDATE payments SET status = 'TIMEOUT'").await;
        assert_eq!(noted(&mut payments).await, [""; 0]);
        run(&mut payments, "UPDATE payments SET status = 'APPROVED', settled_by = 'ANSWER'").await;
        assert_eq!(noted(&mut payments).await, ["k"]);
        run(&mut payments, "UPDATE payments SET status = 'REJECTED'").await;
        assert_eq!(noted(&mut payments).await, ["k", "k"]);
    }

    async fn run(connection: &mut SqliteConnection, statement: &str) {
        sqlx::query(sqlx::AssertSqlSafe(statement)).execute(connection).await.unwrap();
    }
}
