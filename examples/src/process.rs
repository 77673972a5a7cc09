//! What the separate binaries have in common: arguments, start, signals, end.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use axum::Router;
use clap::Args;
use resilience::Resilience;
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};

use crate::{assembly::StartError, settings, web::Server};

/// How long requests under way may hold up the end of a process.
const GRACE: Duration = Duration::from_secs(10);

/// The arguments of every service.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// File that declares the protections; the built-in ones if left out
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The argument of the services that have a database.
#[derive(Debug, Clone, Args)]
pub struct Database {
    /// Database file; a temporary one if left out
    #[arg(long, value_name = "FILE")]
    pub database: Option<PathBuf>,
}

/// A database file, and the directory that goes away with the process if it is a temporary one.
#[derive(Debug)]
pub struct DatabaseFile {
    path: PathBuf,
    _directory: Option<TempDir>,
}

impl Database {
    /// Takes the file that was named, or makes room for a temporary one.
    ///
    /// # Errors
    ///
    /// If the temporary directory cannot be made.
    pub fn file(&self) -> Result<DatabaseFile, StartError> {
        if let Some(path) = &self.database {
            return Ok(DatabaseFile { path: path.clone(), _directory: None });
        }
        let directory = tempfile::Builder::new().prefix("resilience-example-").tempdir()?;
        let path = directory.path().join("service.db");
        Ok(DatabaseFile { path, _directory: Some(directory) })
    }
}

impl DatabaseFile {
    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Common {
    /// Starts to log to standard error and fills the process registry with the protections.
    ///
    /// # Errors
    ///
    /// If the configuration is wrong.
    pub fn prepare(&self) -> Result<Resilience, StartError> {
        let ansi = std::io::stderr().is_terminal();
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(ansi).init();
        Ok(resilience::init(settings::load(self.config.as_deref())?)?)
    }
}

/// Serves `app` until SIGTERM or ctrl-c, then lets the requests under way finish, for 10 s at most.
///
/// # Errors
///
/// If the port cannot be bound or serving fails.
pub async fn serve(name: &str, port: u16, app: Router) -> Result<(), StartError> {
    let mut terminate = signal(SignalKind::terminate())?;
    let server = Server::start(port, app).await?;
    println!("{name} listens on {}", server.url());
    tokio::select! {
        _ = terminate.recv() => {}
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    tracing::info!("{name} stops");
    if let Ok(stopped) = tokio::time::timeout(GRACE, server.stop()).await {
        stopped?;
    } else {
        tracing::warn!("{name} leaves requests unanswered");
    }
    Ok(())
}

/// Turns the end of a service into the status of its process.
pub fn exit(result: Result<(), StartError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
