//! A Redis of one's own, to share limits through and to do harm to.

use std::{
    io,
    net::Ipv4Addr,
    process::Stdio,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    time::timeout,
};

/// What is tried, in this order. Valkey answers alike; where there is a program that has the system kill
/// the server with this process, it does not outlive one that is killed.
const STARTS: [&[&str]; 4] = [
    &["setpriv", "--pdeathsig", "KILL", "redis-server"],
    &["setpriv", "--pdeathsig", "KILL", "valkey-server"],
    &["redis-server"],
    &["valkey-server"],
];
/// A busy machine may take seconds to start a process.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(5);

/// Why there is no Redis.
#[derive(Debug, thiserror::Error)]
pub enum RedisError {
    /// None of the programs is installed.
    #[error(
        "neither redis-server nor valkey-server is installed; install one (`apt-get install \
         redis-server`, `brew install redis`) and run this again"
    )]
    Missing,
    /// It ended before it answered, or does not answer.
    #[error("{0} does not start on port {1}")]
    Silent(String, u16),
    /// The system refuses.
    #[error("a Redis cannot be run: {0}")]
    Io(#[from] io::Error),
}

/// A server on a free port of 127.0.0.1. It keeps nothing, and goes away with this, and on Linux with the
/// thread that started it at the latest.
#[derive(Debug)]
pub struct RedisServer {
    start: &'static [&'static str],
    port: u16,
    child: Child,
    folder: TempDir,
}

impl RedisServer {
    /// Starts a server and waits until it answers.
    ///
    /// # Errors
    ///
    /// If none is installed, or it does not come up within 10 s.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future kills the server.
    pub async fn start() -> Result<Self, RedisError> {
        let folder = tempfile::Builder::new().prefix("resilience-redis-").tempdir()?;
        let port = free_port().await?;
        for start in STARTS {
            if works(start).await? {
                let child = launch(start, port, &folder)?;
                let mut server = Self { start, port, child, folder };
                server.answers().await?;
                return Ok(server);
            }
        }
        Err(RedisError::Missing)
    }

    /// Its address, as a configuration has it.
    pub fn url(&self) -> String {
        format!("redis://{}:{}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// Ends the process at once: whoever calls is refused.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub async fn kill(&mut self) -> Result<(), RedisError> {
        Ok(self.child.kill().await?)
    }

    /// Starts a process that was killed on its port again, and waits until it answers.
    ///
    /// # Errors
    ///
    /// If it does not come up within 10 s.
    pub async fn restart(&mut self) -> Result<(), RedisError> {
        self.child = launch(self.start, self.port, &self.folder)?;
        self.answers().await
    }

    /// Has the process stand still: connections stay, and nobody answers.
    ///
    /// # Errors
    ///
    /// If it is gone.
    pub async fn stand_still(&self) -> Result<(), RedisError> {
        self.signal("-STOP").await
    }

    /// Has the process go on.
    ///
    /// # Errors
    ///
    /// If it is gone.
    pub async fn go_on(&self) -> Result<(), RedisError> {
        self.signal("-CONT").await
    }

    async fn signal(&self, signal: &str) -> Result<(), RedisError> {
        let gone = || io::Error::new(io::ErrorKind::NotFound, "the process is gone");
        let id = self.child.id().ok_or_else(gone)?.to_string();
        let told = Command::new("kill").args([signal, &id]).status().await?;
        if told.success() { Ok(()) } else { Err(gone().into()) }
    }

    async fn answers(&mut self) -> Result<(), RedisError> {
        let start = Instant::now();
        // A process that has ended left its port to somebody else, whose answer means nothing.
        while self.child.try_wait()?.is_none() && start.elapsed() < PATIENCE {
            if let Ok(Ok(())) = timeout(PATIENCE, ping(self.port)).await {
                return Ok(());
            }
            tokio::time::sleep(GLANCE).await;
        }
        Err(RedisError::Silent(self.start.join(" "), self.port))
    }
}

/// Whether this starts a server here.
async fn works(start: &[&str]) -> io::Result<bool> {
    match command(start).arg("--version").status().await {
        Ok(status) => Ok(status.success()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A port that stays free while the server is away: below those that systems hand out to clients.
async fn free_port() -> io::Result<u16> {
    let mut last = io::ErrorKind::AddrInUse.into();
    for _ in 0..100 {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, fastrand::u16(20_000..32_768))).await {
            Ok(listener) => return Ok(listener.local_addr()?.port()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn launch(start: &[&str], port: u16, folder: &TempDir) -> io::Result<Child> {
    command(start)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--save", "", "--appendonly", "no"])
        .current_dir(folder.path())
        .spawn()
}

fn command(start: &[&str]) -> Command {
    let (program, arguments) = start.split_first().unwrap_or((&"", &[]));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

async fn ping(port: u16) -> io::Result<()> {
    let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    connection.write_all(b"PING\r\n").await?;
    let mut answer = [0; 7];
    connection.read_exact(&mut answer).await?;
    if &answer == b"+PONG\r\n" { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}
