use std::{
    fs,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread::sleep,
    time::{Duration, Instant},
};

use redis::{Client, Connection};

/// A redis-server of the test's own, in a folder that goes away with it.
pub(crate) struct Server {
    port: u16,
    folder: PathBuf,
    child: Option<Child>,
}

impl Server {
    pub(crate) fn start() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = format!("resilience-breaker-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut server = Self { port, folder, child: None };
        server.run();
        server
    }

    /// Starts it (again) on its port.
    pub(crate) fn run(&mut self) {
        let child = Command::new("redis-server")
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "no", "--dir"])
            .arg(&self.folder)
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed: `apt-get install redis-server`");
        self.child = Some(child);
        let begun = Instant::now();
        while self.try_connect().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(10), "redis-server does not start");
            sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Sends it a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let child = self.child.as_ref().expect("it runs");
        let sent =
            Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn connect(&self) -> Connection {
        self.try_connect().expect("it runs")
    }

    fn try_connect(&self) -> Option<Connection> {
        let mut connection = Client::open(self.url()).unwrap().get_connection().ok()?;
        redis::cmd("PING").exec(&mut connection).ok()?;
        Some(connection)
    }

    /// How many changes of its data there were.
    pub(crate) fn writes(&self) -> u64 {
        let info: String =
            redis::cmd("INFO").arg("persistence").query(&mut self.connect()).unwrap();
        let line = info.lines().find_map(|line| line.strip_prefix("rdb_changes_since_last_save:"));
        line.unwrap().parse().unwrap()
    }

    /// Checks that there is nothing that stays for ever; what there is.
    pub(crate) fn keys(&self) -> Vec<String> {
        let mut connection = self.connect();
        let keys: Vec<String> = redis::cmd("KEYS").arg("*").query(&mut connection).unwrap();
        for key in &keys {
            let life: i64 = redis::cmd("PTTL").arg(key).query(&mut connection).unwrap();
            // -2: it has just gone.
            assert!(life > 0 || life == -2, "{key} has no expiry");
        }
        keys
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
