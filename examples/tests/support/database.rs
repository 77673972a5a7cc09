use std::{path::Path, time::Duration};

use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};

async fn open(path: &Path) -> SqliteConnection {
    // No patience: a lock that is held is an error at once.
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(Duration::ZERO);
    SqliteConnection::connect_with(&options).await.unwrap()
}

/// Asserts that nobody holds the write lock, which every open writing transaction does.
pub(crate) async fn assert_writable(path: &Path) {
    let mut connection = open(path).await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await.expect("nobody is writing");
    sqlx::query("ROLLBACK").execute(&mut connection).await.unwrap();
}

/// The status of the only payment, as others see it: nothing before it is committed.
pub(crate) async fn committed_payment_status(path: &Path) -> Option<String> {
    let mut connection = open(path).await;
    sqlx::query_scalar("SELECT status FROM payments").fetch_optional(&mut connection).await.unwrap()
}

/// The status and the payment status of every order.
pub(crate) async fn orders(path: &Path) -> Vec<(String, String)> {
    let mut connection = open(path).await;
    sqlx::query_as("SELECT status, payment_status FROM orders")
        .fetch_all(&mut connection)
        .await
        .unwrap()
}

/// Lets the database note each time that a payment becomes settled.
pub(crate) async fn count_settlements(path: &Path) {
    let mut connection = open(path).await;
    for statement in [
        "CREATE TABLE settlements (payment TEXT NOT NULL, by TEXT NOT NULL)",
        "CREATE TRIGGER settled AFTER UPDATE OF status ON payments \
         WHEN NEW.status IN ('APPROVED', 'REJECTED') \
         BEGIN INSERT INTO settlements VALUES (NEW.idempotency_key, NEW.settled_by); END",
    ] {
        sqlx::query(statement).execute(&mut connection).await.unwrap();
    }
}

/// Lets the database note each reservation that is given back.
pub(crate) async fn note_releases(path: &Path) {
    let mut connection = open(path).await;
    for statement in [
        "CREATE TABLE released (order_id TEXT NOT NULL)",
        "CREATE TRIGGER released AFTER DELETE ON reservations \
         BEGIN INSERT INTO released VALUES (OLD.order_id); END",
    ] {
        sqlx::query(statement).execute(&mut connection).await.unwrap();
    }
}

/// The name of the only order, also of one that is being withdrawn.
pub(crate) async fn order_id(path: &Path) -> String {
    let mut connection = open(path).await;
    sqlx::query_scalar("SELECT order_id FROM orders").fetch_one(&mut connection).await.unwrap()
}

/// Which payments became settled, how often, and by whom.
pub(crate) async fn settlements(path: &Path) -> Vec<(String, i64, String)> {
    let mut connection = open(path).await;
    sqlx::query_as("SELECT payment, count(*), min(by) FROM settlements GROUP BY payment")
        .fetch_all(&mut connection)
        .await
        .unwrap()
}

/// How many rows a table has.
pub(crate) async fn count(path: &Path, table: &'static str) -> usize {
    let mut connection = open(path).await;
    let rows: Vec<(i64,)> = sqlx::query_as(match table {
        "orders" => "SELECT 1 FROM orders",
        "payments" => "SELECT 1 FROM payments",
        "reservations" => "SELECT 1 FROM reservations",
        "released" => "SELECT 1 FROM released",
        _ => panic!("there is no table '{table}'"),
    })
    .fetch_all(&mut connection)
    .await
    .unwrap();
    rows.len()
}
