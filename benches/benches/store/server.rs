//! A server of the benchmark's own, on a free port in a temporary folder.

use std::{
    io,
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

pub(super) const PROGRAM: &str = "redis-server";
const PATIENCE: Duration = Duration::from_secs(10);

/// It goes away with this.
pub(super) struct Server {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Server {
    pub(super) fn start() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let child = Command::new(PROGRAM)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()?;
        let mut server = Self { child, port, _folder: folder };
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if server.child.try_wait()?.is_some() || start.elapsed() > PATIENCE {
                return Err(io::Error::other("it does not start"));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(server)
    }

    pub(super) fn url(&self) -> String {
        format!("redis://{}:{}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// `Redis 7.0.15`, as far as the program tells.
    pub(super) fn version() -> String {
        let output = Command::new(PROGRAM).arg("--version").output();
        let output = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let output = output.unwrap_or_default();
        let version = output.split_whitespace().find_map(|word| word.strip_prefix("v="));
        format!("Redis {}", version.unwrap_or("of an unknown version"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
