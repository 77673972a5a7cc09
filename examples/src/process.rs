//! What the separate binaries have in common: arguments, start, signals, end.

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use clap::{Args, Parser, builder::RangedU64ValueParser};
use resilience::{
    Resilience,
    config::{ConfigBuilder, Format},
};
use tempfile::TempDir;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};

use crate::{
    assembly::{Settling, StartError},
    database::Connections,
    management::{Stopping, manage},
    settings,
    web::{App, Secret, Server},
};

/// How long requests under way may hold up the end of a process.
const GRACE: Duration = Duration::from_secs(10);
/// How long a connection to the database takes to be given back, on a busy machine.
const GIVEN_BACK: Duration = Duration::from_secs(1);

/// The arguments of every service.
#[derive(Debug, Clone, Args)]
pub struct Common {
    // Not required as each service sets a default of its own.
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, required = false)]
    pub port: u16,
    /// Port on 127.0.0.1 for the actuator, its live page, /livez and /readyz; 0 takes a free one, left out
    /// there is none
    #[arg(long, value_name = "PORT")]
    pub management_port: Option<u16>,
    /// File that declares the protections; the built-in ones if left out
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// End when standard input does: with the process that started this one, however that ends
    #[arg(long)]
    pub end_with_input: bool,
}

const REDIS_HELP: &str = "Share limits and double clicks with the other processes at this Redis, \
    redis://HOST:PORT; without a URL at that in REDIS_URL, which is the place for one with a password";

/// The argument of the services that share limits with others of their kind.
#[derive(Debug, Clone, Args)]
pub struct Shared {
    // No doc comment: the name of a variable would stand in backticks in the help.
    #[arg(long, value_name = "URL", num_args = 0..=1, help = REDIS_HELP)]
    #[allow(clippy::option_option)] // as clap has an argument whose value may be left out
    redis: Option<Option<String>>,
}

impl Shared {
    /// Declares what is shared, if anything is to be.
    pub fn declare(&self, loader: ConfigBuilder) -> ConfigBuilder {
        let Some(url) = &self.redis else { return loader };
        let loader = loader.text(settings::SHARED, Format::Yaml);
        match url {
            Some(url) => loader.set("redis.url", url),
            None => loader,
        }
    }
}

/// The arguments of the services that settle what is unknown.
#[derive(Debug, Clone, Args)]
pub struct Settle {
    /// Seconds from one look at payments whose outcome is unknown to the next, give or take a fifth
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = seconds())]
    settle_every: u64,
}

impl Settle {
    /// What the arguments and the environment say.
    ///
    /// # Errors
    ///
    /// If the secret of the environment is too short.
    pub fn settling(&self) -> Result<Settling, StartError> {
        let (secret, every) = (Secret::from_env()?, Duration::from_secs(self.settle_every));
        Ok(Settling { secret, every, ..Settling::default() })
    }
}

/// A number of seconds on a command line: from one to those of a day.
pub fn seconds() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=86_400)
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
    /// What reads the protections that are declared.
    pub fn loader(&self) -> ConfigBuilder {
        settings::loader(self.config.as_deref())
    }

    /// Logs to standard error, fills the process registry with the protections, puts together the
    /// service and serves it until SIGTERM, ctrl-c or the end of standard input, if that is looked at. On
    /// SIGHUP it reads the protections anew.
    ///
    /// Requests under way are finished then, within 10 s and unless a second signal comes.
    ///
    /// # Errors
    ///
    /// If the configuration is wrong, the service cannot be put together or the port not be bound.
    pub async fn serve(
        &self,
        name: &str,
        loader: ConfigBuilder,
        app: impl AsyncFnOnce(&Resilience) -> Result<App, StartError>,
    ) -> Result<(), StartError> {
        let ansi = std::io::stderr().is_terminal();
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(ansi).init();
        let registry = resilience::init(loader.clone().load()?)?;
        let app = app(&registry).await?;
        let mut signals = Signals::new()?;
        let hangup = signal(SignalKind::hangup())?;
        let (connections, health) = (app.connections.clone(), app.routes.clone());
        let server = Server::start(self.port, app).await?;
        let stopping = Stopping::default();
        // Once the other is open, so that nobody is told of a service that is not there. It stops when it
        // is dropped, at the end.
        let management = match self.management_port {
            Some(port) => Some(manage(&registry, port, health, &stopping).await?),
            None => None,
        };
        let reloads = tokio::spawn(reload_at(hangup, name.to_owned(), registry, loader));
        println!("{name} listens on {}", server.url());
        if let Some(management) = &management {
            println!("{name} manages on http://{}/actuator", management.address());
        }
        tokio::select! {
            () = signals.next() => {}
            () = input_ends(), if self.end_with_input => {}
        }
        reloads.abort();
        stopping.begin();
        tracing::info!("{name} stops");
        tokio::select! {
            stopped = server.stop() => {
                stopped?;
                let kept = kept(connections.as_ref()).await;
                if kept > 0 {
                    let problem = "connections to its database are not given back";
                    tracing::warn!(kept, "{name} ends, and {problem}");
                }
            }
            () = signals.next() => tracing::warn!("{name} is told again: it leaves requests unanswered"),
            () = tokio::time::sleep(GRACE) => tracing::warn!("{name} leaves requests unanswered"),
        }
        Ok(())
    }
}

/// How many connections are not given back although nothing is under way any more.
async fn kept(connections: Option<&Connections>) -> usize {
    let in_use = || connections.map_or(0, Connections::in_use);
    let start = Instant::now();
    // They go back on tasks of their own.
    while in_use() > 0 && start.elapsed() < GIVEN_BACK {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    in_use()
}

/// Reads the protections anew at each signal. What is wrong with them is logged, and those in force
/// stay.
async fn reload_at(mut hangup: Signal, name: String, registry: Resilience, loader: ConfigBuilder) {
    while hangup.recv().await.is_some() {
        tracing::info!("{name} reads its configuration anew");
        let (registry, loader) = (registry.clone(), loader.clone());
        // It reads a file. The outcome, change by change, is logged by the registry.
        let _ = tokio::task::spawn_blocking(move || registry.reload_from(&loader)).await;
    }
}

/// Returns when there is no more of standard input, whatever was there.
async fn input_ends() {
    let (ended, told) = oneshot::channel::<()>();
    // Nobody can end a read of it, and a runtime waits for its own threads: this one is none of them.
    thread::spawn(move || {
        let _ended = ended;
        io::copy(&mut io::stdin(), &mut io::sink())
    });
    let _ = told.await;
}

/// What tells a process to end.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let (terminate, interrupt) = (SignalKind::terminate(), SignalKind::interrupt());
        Ok(Self { terminate: signal(terminate)?, interrupt: signal(interrupt)? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Runs a service with the arguments of its process and turns its end into the status.
pub async fn main<A: Parser>(run: impl AsyncFnOnce(A) -> Result<(), StartError>) -> ExitCode {
    match run(A::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlx::SqlitePool;

    use super::*;

    #[tokio::test]
    async fn a_connection_that_is_not_given_back_is_told_and_one_that_is_on_its_way_is_not() {
        let pool = SqlitePool::connect("sqlite::memory:").await.unwrap();
        let connections = Connections::of(&pool);
        let held = pool.acquire().await.unwrap();
        assert_eq!(kept(Some(&connections)).await, 1);
        drop(held);
        assert_eq!(kept(Some(&connections)).await, 0);
        assert_eq!(kept(None).await, 0, "it has no database");
    }
}
