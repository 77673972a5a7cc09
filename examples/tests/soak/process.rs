//! A service in a process of its own, which ends and comes back.

use std::{
    fs::{File, OpenOptions},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

/// What the callbacks are signed with.
pub(crate) const SECRET: &str = "soak-callback-secret";
/// What changes by hand would need.
pub(crate) const TOKEN: &str = "soak-actuator-token-0123456789";

/// The version of the roles is asked for every 5 s at most: three probes would take a quarter of a minute
/// to close its breaker.
const ONE_PROBE: (&str, &str) =
    ("RESILIENCE_CIRCUITBREAKER_INSTANCES_ACCOUNTREAD_PERMITTEDNUMBEROFCALLSINHALFOPENSTATE", "1");

/// A busy machine may take seconds to start a process.
const START: Duration = Duration::from_secs(20);
/// What a process gives the requests under way is 10 s.
const END: Duration = Duration::from_secs(15);

/// How to start a service, and the process that it is now.
pub(crate) struct Process {
    pub(crate) name: &'static str,
    program: &'static str,
    arguments: Vec<String>,
    log: PathBuf,
    now: Option<Life>,
    /// Who has it stand still.
    holder: Option<Child>,
}

struct Life {
    /// Its input is held open: it ends with this process, also with one that is killed.
    child: Child,
    url: String,
    actuator: String,
}

impl Process {
    /// Starts it, with a log in this folder that all its lives have in common.
    pub(crate) async fn start(
        name: &'static str,
        program: &'static str,
        arguments: &[(&str, &str)],
        folder: &Path,
    ) -> Self {
        let words = arguments.iter().flat_map(|(name, value)| [*name, *value]);
        let arguments = words.map(str::to_owned).collect();
        let log = folder.join(format!("{name}.log"));
        let mut process = Self { name, program, arguments, log, now: None, holder: None };
        process.come_back().await;
        process
    }

    pub(crate) fn url(&self) -> &str {
        &self.life().url
    }

    /// The base of the URLs of those who run it.
    pub(crate) fn actuator(&self) -> &str {
        &self.life().actuator
    }

    pub(crate) fn id(&self) -> u32 {
        self.life().child.id().expect("it has not been waited for")
    }

    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    /// Starts it again.
    pub(crate) async fn come_back(&mut self) {
        assert!(self.now.is_none(), "{} is there", self.name);
        let log = OpenOptions::new().create(true).append(true).open(&self.log).unwrap();
        let life = timeout(START, Life::start(self.program, &self.arguments, log));
        let life = life.await.unwrap_or_else(|_| panic!("{} did not start in time", self.name));
        self.now = Some(life);
    }

    /// Has it start with another value of this argument from here on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        let mut words = self.arguments.iter_mut().skip_while(|word| *word != name);
        let old = words.nth(1).expect("it was started with one");
        value.clone_into(old);
    }

    /// Ends it by SIGKILL.
    pub(crate) async fn kill(&mut self) {
        self.assert_alive();
        let mut life = self.now.take().expect("it is alive");
        life.child.kill().await.unwrap();
    }

    /// Ends it by SIGTERM, which it follows in time and with success.
    pub(crate) async fn terminate(&mut self) {
        self.assert_alive();
        self.signal("-TERM").await;
        let mut life = self.now.take().expect("it is alive");
        let ended = timeout(END, life.child.wait()).await;
        let status = ended.unwrap_or_else(|_| panic!("{} does not end when told to", self.name));
        assert!(status.as_ref().unwrap().success(), "{} ended with {status:?}", self.name);
    }

    /// Has it stand still until it is told to go on, or until this process ends: one that stands still does
    /// not see its input end.
    pub(crate) fn stand_still(&mut self) {
        let id = self.id().to_string();
        let holder = Command::new("sh")
            .args(["-c", "trap '' INT; kill -STOP $0; read -r _; kill -CONT $0", &id])
            .stdin(Stdio::piped())
            .spawn();
        self.holder = Some(holder.unwrap());
    }

    pub(crate) async fn go_on(&mut self) {
        let mut holder = self.holder.take().expect("it stands still");
        // Which ends its input.
        holder.wait().await.unwrap();
    }

    async fn signal(&self, signal: &str) {
        let told = Command::new("kill").args([signal, &self.id().to_string()]).status().await;
        assert!(told.unwrap().success());
    }

    /// It never ends by itself.
    pub(crate) fn assert_alive(&mut self) {
        let life = self.now.as_mut().expect("it was started");
        let ended = life.child.try_wait().unwrap();
        assert!(ended.is_none(), "{} ended by itself: {ended:?}", self.name);
    }

    fn life(&self) -> &Life {
        self.now.as_ref().expect("it is alive")
    }
}

impl Life {
    async fn start(program: &str, arguments: &[String], log: File) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .args(["--management-port", "0", "--end-with-input"])
            .env("CALLBACK_SECRET", SECRET)
            .env("ACTUATOR_TOKEN", TOKEN)
            .env(ONE_PROBE.0, ONE_PROBE.1)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let url = told_url(&mut lines).await;
        let actuator = told_url(&mut lines).await;
        Self { child, url, actuator }
    }
}

/// The URL at the end of the next line.
async fn told_url(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    let line = lines.next_line().await.unwrap().expect("it ended before it listened; see its log");
    line.rsplit(' ').next().unwrap_or_default().to_owned()
}
