//! Order processes of the demo's own.

use std::{env, io, path::Path, process::Stdio, time::Duration};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use super::{DemoError, stage::Stage, traffic::text};
use crate::assembly::StartError;

/// The name under which the demo's program is the order service: it is the one program that is sure to
/// be there, whatever was built.
pub const ORDER: &str = "order";
/// A busy machine may take seconds to start a process.
const PATIENCE: Duration = Duration::from_secs(20);
/// A rush falls into one such period of each process, whose beginning nobody outside knows.
const PERIOD: (&str, &str) = ("RESILIENCE_RATELIMITER_INSTANCES_ORDERRL_LIMITREFRESHPERIOD", "1h");

/// Three processes that share a Redis. They are killed with this, and their databases go away. If this
/// process is killed they end as well: by their inputs, which end then.
#[derive(Debug)]
pub(super) struct Processes {
    pub(super) all: [OrderProcess; 3],
    _databases: TempDir,
}

/// An order service in a process of its own, beside the stage's.
#[derive(Debug)]
pub(super) struct OrderProcess {
    pub(super) url: String,
    actuator: String,
    _child: Child,
}

impl Processes {
    /// Starts them, with the inventory, the payments and the accounts of the stage.
    pub(super) async fn start(stage: &Stage, redis: &str) -> Result<Self, DemoError> {
        let databases = tempfile::Builder::new().prefix("resilience-example-").tempdir();
        let databases = databases.map_err(StartError::from)?;
        let start = async |name| {
            let database = databases.path().join(name);
            let started = timeout(PATIENCE, OrderProcess::start(stage, redis, &database)).await;
            started.map_err(|_| DemoError::Waited("an order process listens"))?
        };
        let (a, b, c) = tokio::try_join!(start("a.db"), start("b.db"), start("c.db"))?;
        Ok(Self { all: [a, b, c], _databases: databases })
    }

    /// The lines in which they tell of a metric, of the series that have this label.
    pub(super) async fn lines(
        &self,
        stage: &Stage,
        metric: &str,
        label: &str,
    ) -> Result<Vec<String>, DemoError> {
        let mut lines = Vec::new();
        for process in &self.all {
            let page = text(stage.traffic.get(format!("{}/prometheus", process.actuator))).await?;
            let of_metric =
                page.lines().filter(|line| line.starts_with(metric) && line.contains(label));
            lines.extend(of_metric.map(str::to_owned));
        }
        Ok(lines)
    }
}

/// The value in such a line.
pub(super) fn value(line: &str) -> Option<u64> {
    line.rsplit(' ').next()?.parse().ok()
}

/// What the values come to together.
pub(super) fn sum(lines: &[String]) -> u64 {
    lines.iter().filter_map(|line| value(line)).sum()
}

impl OrderProcess {
    async fn start(stage: &Stage, redis: &str, database: &Path) -> Result<Self, DemoError> {
        let start = async {
            let mut child = Command::new(env::current_exe()?)
                .arg0(ORDER)
                .args(["--port", "0", "--management-port", "0", "--redis", redis])
                .arg("--end-with-input")
                .args(["--inventory-url", &stage.system.inventory.url()])
                .args(["--payment-url", &stage.system.payment.url()])
                .args(["--account-url", &stage.system.account.url()])
                .args(["--mail-url", &stage.system.mail.url()])
                .arg("--database")
                .arg(database)
                .env(PERIOD.0, PERIOD.1)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .kill_on_drop(true)
                .spawn()?;
            let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
            let mut lines = BufReader::new(output).lines();
            let url = told_url(&mut lines).await?;
            let actuator = told_url(&mut lines).await?;
            Ok::<_, io::Error>(Self { url, actuator, _child: child })
        };
        Ok(start.await.map_err(StartError::from)?)
    }
}

/// The URL at the end of the next line.
async fn told_url(lines: &mut Lines<BufReader<ChildStdout>>) -> io::Result<String> {
    let ended = || io::Error::other("an order process ended before it listened");
    let line = lines.next_line().await?.ok_or_else(ended)?;
    Ok(line.rsplit(' ').next().unwrap_or_default().to_owned())
}
