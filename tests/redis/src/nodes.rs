//! Processes that share a limit.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    time::Duration,
};

use resilience::rate_limiter::Algorithm;
use serde::{Deserialize, Serialize};

use crate::limits;

/// What one process does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    /// The server.
    pub url: String,
    /// The name of the limit.
    pub name: String,
    /// Whether it goes by GCRA, else by windows.
    pub gcra: bool,
    /// Permissions in a period.
    pub permissions: u32,
    /// The period in milliseconds.
    pub period: u64,
    /// How many permissions are fetched at a time.
    pub lease: u32,
    /// How many calls are made, one after the other.
    pub calls: u32,
}

impl Task {
    /// Two hundred calls under a limit whose period does not end.
    ///
    /// # Panics
    ///
    /// When there is an algorithm that the tests do not know.
    pub fn new(url: &str, algorithm: Algorithm, permissions: u32) -> Self {
        Self {
            url: url.to_owned(),
            name: format!("shared-{permissions}-{algorithm:?}"),
            gcra: algorithm == Algorithm::Gcra,
            permissions,
            period: u64::try_from(limits::A_YEAR.as_millis()).expect("a year"),
            lease: 1,
            calls: 200,
        }
    }

    /// What the process of a task does, once it is told to start: the calls, of which it says how many
    /// were let in.
    ///
    /// # Errors
    ///
    /// When whoever started it is gone.
    pub fn run(&self) -> io::Result<()> {
        let algorithm = if self.gcra { Algorithm::Gcra } else { Algorithm::FixedWindow };
        let period = Duration::from_millis(self.period);
        let config = limits::limit(algorithm, self.permissions, period).lease(self.lease);
        let limiter = limits::limiter(&self.name, config, &limits::open(&self.url));
        println!("ready");
        io::stdin().read_line(&mut String::new())?;
        let admitted = limits::admitted(&limiter, self.calls);
        println!("{}", serde_json::json!({ "admitted": admitted }));
        Ok(())
    }
}

/// Runs a task in several processes at the same time, and says how many calls each had let in.
///
/// # Panics
///
/// When one of them fails.
pub fn run(program: &str, processes: usize, task: &Task) -> Vec<u32> {
    let task = serde_json::to_string(task).expect("JSON");
    let mut nodes: Vec<_> = (0..processes).map(|_| Node::start(program, &task)).collect();
    // None is ahead of the others by the time that it takes to start.
    nodes.iter_mut().for_each(Node::wait_until_ready);
    nodes.iter_mut().for_each(Node::go);
    nodes.into_iter().map(Node::admitted).collect()
}

struct Node {
    process: Child,
    says: BufReader<std::process::ChildStdout>,
}

impl Node {
    fn start(program: &str, task: &str) -> Self {
        let process =
            Command::new(program).arg(task).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = process.expect("a node starts");
        let says = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, says }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).expect("a node that runs");
        line
    }

    fn wait_until_ready(&mut self) {
        assert_eq!(self.line(), "ready\n");
    }

    fn go(&mut self) {
        let stdin = self.process.stdin.as_mut().expect("a pipe");
        stdin.write_all(b"go\n").expect("a node that runs");
    }

    fn admitted(mut self) -> u32 {
        #[derive(Deserialize)]
        struct Report {
            admitted: u32,
        }
        let line = self.line();
        let report: Report = serde_json::from_str(&line).expect("a report");
        assert!(self.process.wait().is_ok_and(|status| status.success()));
        report.admitted
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
