//! Kinds of a database's errors, from a real one.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

use resilience::{CircuitBreaker, CircuitBreakerConfig, ErrorKind, Rules};
use sqlx::{Executor, SqlitePool, sqlite::SqlitePoolOptions};

async fn database() -> SqlitePool {
    let pool = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await;
    let pool = pool.unwrap();
    pool.execute("CREATE TABLE stock (sku TEXT NOT NULL UNIQUE, left INT CHECK (left >= 0))")
        .await
        .unwrap();
    pool
}

#[tokio::test]
async fn a_violation_is_of_its_own_kind_of_all_violations_and_of_the_database() {
    let pool = database().await;
    pool.execute("INSERT INTO stock VALUES ('pencil', 1)").await.unwrap();
    for (statement, kinds) in [
        (
            "INSERT INTO stock VALUES ('pencil', 2)",
            &["unique_violation", "constraint_violation", "database"][..],
        ),
        (
            "INSERT INTO stock VALUES (NULL, 2)",
            &["not_null_violation", "constraint_violation", "database"],
        ),
        (
            "INSERT INTO stock VALUES ('pen', -1)",
            &["check_violation", "constraint_violation", "database"],
        ),
        ("INSERT INTO nowhere VALUES (1)", &["database"]),
    ] {
        assert_eq!(pool.execute(statement).await.unwrap_err().kinds(), kinds, "{statement}");
    }
    let missing = sqlx::query("SELECT * FROM stock WHERE sku = 'ink'").fetch_one(&pool).await;
    assert_eq!(missing.unwrap_err().kinds(), ["row_not_found"]);
}

#[tokio::test]
async fn a_breaker_can_ignore_what_a_user_did_wrong() {
    let config =
        CircuitBreakerConfig::builder().ignore_errors(["constraint_violation"]).build().unwrap();
    let breaker = CircuitBreaker::new("stock", config);
    let pool = database().await;
    for statement in ["INSERT INTO stock VALUES (NULL, 2)", "INSERT INTO nowhere VALUES (1)"] {
        let call = async { pool.execute(statement).await.map_err(in_a_box) };
        breaker.call_by(&Rules::new().kinds(), call).await.unwrap_err();
    }
    assert_eq!(breaker.metrics().failed_calls, 1);
    assert_eq!(breaker.metrics().buffered_calls, 1);
}

/// Errors as many services pass them on.
fn in_a_box(error: sqlx::Error) -> Box<dyn std::error::Error + Send + Sync> {
    error.into()
}
