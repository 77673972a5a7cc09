//! Reads the books of all services: their databases, and the providers' ledgers.

use std::{path::Path, time::Duration};

use examples::{mail::Sent, order::Order, payment::Payment, pg::Charge};
use reqwest::Client;
use serde::Deserialize;
use sqlx::{Connection, FromRow, SqliteConnection, sqlite::SqliteConnectOptions};

use crate::{
    audit::{Booked, Books, Kept},
    system::{System, Urls},
};

/// A process may have been told to stand still while it writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Has the databases note what must happen once, and what never.
pub(crate) async fn watch(system: &System) {
    let mut payments = open(&system.database("payment"), PATIENCE).await;
    let mut orders = open(&system.database("order"), PATIENCE).await;
    let noted = "CREATE TABLE noted (name TEXT NOT NULL)";
    for statement in [
        noted,
        "CREATE TRIGGER settled AFTER UPDATE OF status ON payments \
         WHEN NEW.status IN ('APPROVED', 'REJECTED') OR OLD.status IN ('APPROVED', 'REJECTED') \
         BEGIN INSERT INTO noted VALUES (NEW.idempotency_key); END",
    ] {
        sqlx::query(statement).execute(&mut payments).await.unwrap();
    }
    for statement in [
        noted,
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
    /// The books as they are now; the stock at the beginning is that of `before`.
    pub(crate) async fn of(system: &System, client: &Client, before: Option<&Self>) -> Self {
        let mut books = Self {
            charges: charges(&system.urls, client).await,
            mails: mails(&system.urls, client).await,
            ..Self::default()
        };
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

async fn mails(urls: &Urls, client: &Client) -> Sent {
    let sent = client.get(format!("{}/mails", urls.mails)).send().await.unwrap();
    sent.json().await.unwrap()
}

async fn open(path: &Path, patience: Duration) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(patience);
    SqliteConnection::connect_with(&options).await.unwrap()
}
