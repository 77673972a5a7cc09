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
