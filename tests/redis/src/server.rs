//! A real server for one test.

use std::{
    fs::File,
    io,
    net::{Ipv4Addr, TcpListener},
    ops::Range,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use redis::{Client, Commands as _, Connection, RedisResult};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long something may take that a loaded machine is slow with.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// Below the ports that the system gives to connections, so that none takes the port of a server that
/// is down for a moment. The bus of a cluster's node is 10,000 above.
const PORTS: Range<u16> = 11_000..22_000;

/// A server on a free port in a folder of its own. Both go away with it.
pub struct Server {
    program: PathBuf,
    options: Vec<String>,
    port: u16,
    process: Process,
    folder: TempDir,
}

impl Server {
    /// Starts `redis-server` and waits until it answers.
    ///
    /// # Panics
    ///
    /// When it is missing or does not come up.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts `redis-server` with further options, such as `["--maxmemory", "1mb"]`.
    ///
    /// # Panics
    ///
    /// When it is missing or does not come up.
    pub fn start_with(options: &[&str]) -> Self {
        Self::start_program(&Self::programs()[0], options)
    }

    /// The servers that are installed: Redis, and Valkey where there is one.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn programs() -> Vec<PathBuf> {
        let folders: Vec<_> =
            std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
        let found: Vec<_> = ["redis-server", "valkey-server"]
            .into_iter()
            .filter_map(|name| folders.iter().map(|f| f.join(name)).find(|path| path.is_file()))
            .collect();
        assert!(
            !found.is_empty(),
            "these tests need a real server: `scripts/test` installs it, as does \
             `apt-get install redis-server`"
        );
        found
    }

    /// Starts one of [`programs`](Self::programs).
    ///
    /// # Panics
    ///
    /// When it does not come up.
    pub fn start_program(program: &Path, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options: Vec<_> = options.iter().map(ToString::to_string).collect();
        // Another test may take the port between the look and the start.
        for _ in 0..10 {
            let port = free_port();
            let mut process = Process::launch(program, port, folder.path(), &options);
            if process.comes_up(port) {
                return Self { program: program.to_owned(), options, port, process, folder };
            }
        }
        panic!("{} does not start: {}", program.display(), said(folder.path()))
    }

    /// Where it listens on this machine.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address as a store takes it.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its files, and what it says in `log`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A look into the server.
    ///
    /// # Panics
    ///
    /// When it does not let anybody in.
    pub fn connect(&self) -> Connection {
        connect(&self.url()).expect("a server that is up")
    }

    /// Has the process stand still: what listens still takes connections, and nothing answers.
    pub fn stop(&self) {
        self.process.signal(Signal::STOP);
    }

    /// Has the process go on.
    pub fn go_on(&self) {
        self.process.signal(Signal::CONT);
    }

    /// Ends the process at once, as `kill -9` does.
    pub fn kill(&mut self) {
        self.process.end();
    }

    /// Starts it on the same port, with what it has written to its folder.
    ///
    /// # Panics
    ///
    /// When it does not come up.
    pub fn restart(&mut self) {
        self.kill();
        let Self { program, port, folder, options, .. } = self;
        self.process = Process::launch(program, *port, folder.path(), options);
        assert!(self.process.comes_up(self.port), "no start: {}", said(self.folder.path()));
    }

    /// Makes it a replica of another, and waits until it has the other's data.
    ///
    /// # Panics
    ///
    /// When it does not get there.
    pub fn replicate(&self, of: &Self) {
        let mut connection = self.connect();
        let () = redis::cmd("REPLICAOF")
            .arg("127.0.0.1")
            .arg(of.port)
            .query(&mut connection)
            .expect("a replica");
        wait_until("the replica has the data", || {
            info(&mut connection, "replication").contains("master_link_status:up")
        });
    }

    /// Makes a replica a master.
    ///
    /// # Panics
    ///
    /// When it does not become one.
    pub fn promote(&self) {
        let promoted = redis::cmd("REPLICAOF").arg("NO").arg("ONE").query(&mut self.connect());
        let () = promoted.expect("a master");
    }

    /// How often a command has run in the server, be it sent or called by a script.
    ///
    /// # Panics
    ///
    /// When the server does not say.
    pub fn calls_of(&self, command: &str) -> u64 {
        let statistics = info(&mut self.connect(), "commandstats");
        let start = format!("cmdstat_{command}:calls=");
        let line = statistics.lines().find_map(|line| line.strip_prefix(start.as_str()));
        line.and_then(|rest| rest.split(',').next()).map_or(0, |n| n.parse().expect("a number"))
    }

    /// How many changes of its data there were.
    ///
    /// # Panics
    ///
    /// When the server does not say.
    pub fn writes(&self) -> u64 {
        let persistence = info(&mut self.connect(), "persistence");
        let start = "rdb_changes_since_last_save:";
        let changes = persistence.lines().find_map(|line| line.strip_prefix(start));
        changes.and_then(|number| number.parse().ok()).expect("a number")
    }

    /// All keys that are there, each of which expires.
    ///
    /// # Panics
    ///
    /// When there is one that stays for ever, or the server does not say.
    pub fn keys(&self) -> Vec<String> {
        let mut connection = self.connect();
        let keys: Vec<String> = connection.keys("*").expect("a server that is up");
        for key in &keys {
            let life: i64 = connection.pttl(key).expect("a server that is up");
            // -2: it has just gone.
            assert!(life >= 0 || life == -2, "{key} has no expiry");
        }
        keys
    }

    /// The commands that have run in the server.
    ///
    /// # Panics
    ///
    /// When the server does not say.
    pub fn commands(&self) -> Vec<String> {
        info(&mut self.connect(), "commandstats")
            .lines()
            .filter_map(|line| line.strip_prefix("cmdstat_")?.split(':').next())
            .map(str::to_owned)
            .collect()
    }
}

/// Opens a connection that is not waited for without end.
///
/// # Errors
///
/// When nobody answers at the address, or lets nobody in.
pub fn connect(url: &str) -> RedisResult<Connection> {
    let connection = Client::open(url)?.get_connection_with_timeout(PATIENCE)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    Ok(connection)
}

/// A part of what a server tells of itself.
///
/// # Panics
///
/// When it does not.
pub fn info(connection: &mut Connection, section: &str) -> String {
    redis::cmd("INFO").arg(section).query(connection).expect("a server that is up")
}

/// The server's clock.
///
/// # Panics
///
/// When it does not tell.
pub fn time(connection: &mut Connection) -> Duration {
    let time = redis::cmd("TIME").query(connection);
    let (seconds, micros): (u64, u64) = time.expect("a server that is up");
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

/// Waits until a window of the server's clock has just begun.
///
/// # Panics
///
/// When the server does not tell the time.
pub fn wait_for_a_window(server: &Server, period: Duration) {
    let now = time(&mut server.connect());
    let into = now.as_nanos() % period.as_nanos();
    let rest = period.as_nanos() - into;
    thread::sleep(Duration::from_nanos(u64::try_from(rest).expect("less than a period")));
}

/// Waits for something that takes its time, and not for ever.
///
/// # Panics
///
/// When it does not come.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A process that ends with its handle, also when the test panics.
struct Process(Child);

impl Process {
    fn launch(program: &Path, port: u16, folder: &Path, options: &[String]) -> Self {
        let log = File::options().create(true).append(true).open(folder.join("log"));
        let child = Command::new(program)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--enable-debug-command", "local", "--repl-diskless-sync-delay", "0"])
            .arg("--dir")
            .arg(folder)
            .args(options)
            .stdin(Stdio::null())
            .stdout(log.expect("a log"))
            .stderr(Stdio::null())
            .spawn();
        Self(child.expect("the server starts"))
    }

    /// Waits for the first answer. A port that is taken ends the server at once.
    fn comes_up(&mut self, port: u16) -> bool {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return false;
            }
            if is_up(port, self.0.id()) {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("a process of ours");
    }

    fn end(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether that process answers at the port, and not another which was faster. One that asks for
/// a password is up too.
fn is_up(port: u16, process: u32) -> bool {
    let Ok(mut connection) = connect(&format!("redis://127.0.0.1:{port}")) else { return false };
    match redis::cmd("INFO").arg("server").query::<String>(&mut connection) {
        Ok(server) => server.contains(&format!("process_id:{process}\r\n")),
        Err(error) => error.code() == Some("NOAUTH"),
    }
}

fn free_port() -> u16 {
    let is_free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    let both = |port: &u16| is_free(*port) && is_free(*port + 10_000);
    std::iter::repeat_with(|| fastrand::u16(PORTS)).find(both).expect("there is no end")
}

fn said(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("log")).unwrap_or_else(|error: io::Error| error.to_string())
}
