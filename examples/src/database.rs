//! `SQLite` files: one for each service, as services do not share tables.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{
    SqlitePool,
    migrate::Migrator,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

/// A database file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the database '{}' cannot be used: {source}", .path.display())]
pub struct OpenError {
    path: PathBuf,
    source: sqlx::Error,
}

/// Opens the database at `path`, creates it if it is missing, and brings its tables up to date.
///
/// # Errors
///
/// If the file cannot be opened or a migration fails.
pub async fn open(path: &Path, migrator: &Migrator) -> Result<SqlitePool, OpenError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        // Readers do not wait for the writer: product reads stay fast while orders are written.
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(Duration::from_secs(5));
    let opened = async {
        let pool = SqlitePoolOptions::new().max_connections(4).connect_with(options).await?;
        migrator.run(&pool).await?;
        Ok(pool)
    };
    opened.await.map_err(|source| OpenError { path: path.to_owned(), source })
}

/// A look at the connections to a database.
#[derive(Debug, Clone)]
pub struct Connections(SqlitePool);

impl Connections {
    /// Looks at those of this pool.
    pub fn of(pool: &SqlitePool) -> Self {
        Self(pool.clone())
    }

    /// How many somebody works with now.
    pub fn in_use(&self) -> usize {
        // Both are counted while others work: for a moment more may be idle than are there.
        (self.0.size() as usize).saturating_sub(self.0.num_idle())
    }
}

/// Says whether the database answers.
pub async fn is_ready(pool: &SqlitePool) -> bool {
    sqlx::query("SELECT 1").execute(pool).await.is_ok()
}
