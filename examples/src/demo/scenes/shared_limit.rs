use std::time::{Duration, Instant, SystemTime};

use crate::{
    demo::{
        DemoError,
        latency::Shown,
        processes::{OrderProcess, Processes},
        progress::Progress,
        report::SceneReport,
        stage::Stage,
        traffic::{Answer, answer, answers, latencies},
    },
    redis_server::{RedisError, RedisServer},
};

const PROCESSES: usize = 3;
/// Of each limit, in one process or in all.
const LIMIT: usize = 10;
/// What each process admits of it while Redis is away.
const SHARE: usize = LIMIT / PROCESSES;
/// Orders at each process, more than its own limit.
const RUSH: usize = 12;
const SECONDS: usize = 2;
/// The period of the limit, and of a window of Redis.
const SECOND: Duration = Duration::from_secs(1);
const PACE: Duration = Duration::from_millis(8);
/// How long orders come before Redis fails, and afterwards: less than the guard stays open.
const BEFORE: Duration = Duration::from_millis(200);
const AFTER: Duration = Duration::from_millis(850);
/// Half and all of the refusals: the guard keeps most from the 50 ms that a decision may take, and the
/// way there and back comes on top.
const QUICK: (Duration, Duration) = (Duration::from_millis(25), Duration::from_millis(250));
/// A rush that a busy machine did not get into one second is made again, so often.
const TRIES: usize = 3;
const PATIENCE: Duration = Duration::from_secs(10);

const DEGRADED: &str = "resilience_store_degraded";
const DECISIONS: &str = "resilience_store_decisions_total";
const FAILURES: &str = "resilience_store_failures_total";

pub(in crate::demo) async fn run(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    let mut redis = match RedisServer::start().await {
        Err(error @ RedisError::Missing) => {
            report.not_run(error);
            return Ok(());
        }
        started => started?,
    };
    let processes = Processes::start(stage, &redis.url()).await?;
    own_limits(stage, report, &processes).await?;
    one_limit(stage, report, &processes, "with one that they share, ten pass, whoever is asked")
        .await?;

    let stalled = outage(stage, &processes, redis.stand_still()).await?;
    report.promise(
        "Redis stands still: each order is answered, 200 or 429",
        format!("{} of {}", stalled.passed + stalled.refused.len(), stalled.sent()),
        stalled.is_answered(),
    );
    let latency = latencies(&stalled.refused);
    report.promise(
        "no decision waits longer than its 50 ms, and after five none at all: half of the refusals \
         within 25 ms, all within 250 ms",
        &latency,
        latency.within(QUICK.0, QUICK.1),
    );
    shares(stage, report, &processes, &stalled, "timeout").await?;
    redis.go_on().await?;
    recovered(stage, report, &processes).await?;

    let killed = outage(stage, &processes, redis.kill()).await?;
    report.promise(
        "Redis is killed: each order is answered, 200 or 429",
        format!("{} of {}", killed.passed + killed.refused.len(), killed.sent()),
        killed.is_answered(),
    );
    shares(stage, report, &processes, &killed, "connection").await?;
    redis.restart().await?;
    recovered(stage, report, &processes).await?;
    one_limit(stage, report, &processes, "once it is back, ten pass again").await?;
    report.metric(DECISIONS, processes.sum(stage, DECISIONS, "").await?);
    report.metric(DEGRADED, processes.sum(stage, DEGRADED, "").await?);
    Ok(())
}

/// Orders at the entrance where each process has a limit of its own.
async fn own_limits(
    stage: &Stage,
    report: &mut SceneReport,
    processes: &Processes,
) -> Result<(), DemoError> {
    let progress = Progress::new("orders", PROCESSES * RUSH);
    let mut passed = [0; PROCESSES];
    for (process, passed) in processes.all.iter().zip(&mut passed) {
        let rush = (0..RUSH).map(|_| stage.traffic.order(&process.url));
        *passed = admitted(&answers(rush, &progress).await?);
    }
    report.promise(
        "with a limit of ten in each of three processes, three times as much passes",
        format!("{passed:?} of {RUSH} each"),
        passed == [LIMIT; PROCESSES],
    );
    Ok(())
}

/// Orders at the other one, at all processes in the same second.
async fn one_limit(
    stage: &Stage,
    report: &mut SceneReport,
    processes: &Processes,
    promise: &'static str,
) -> Result<(), DemoError> {
    let progress = Progress::new("orders", SECONDS * PROCESSES * RUSH);
    let mut each_second = Vec::new();
    for _ in 0..SECONDS {
        each_second.push(in_one_second(stage, processes, &progress).await?);
    }
    drop(progress);
    report.promise(
        promise,
        format!("{each_second:?} of {} each second", PROCESSES * RUSH),
        each_second == [LIMIT; SECONDS],
    );
    Ok(())
}

/// How many of a rush at all processes pass.
async fn in_one_second(
    stage: &Stage,
    processes: &Processes,
    progress: &Progress,
) -> Result<usize, DemoError> {
    let mut passed = 0;
    for _ in 0..TRIES {
        // Redis' windows are the seconds of its clock, which is this machine's.
        tokio::time::sleep(rest_of_second()).await;
        let start = Instant::now();
        let rush = (0..RUSH).flat_map(|_| &processes.all);
        let rush = rush.map(|process| stage.traffic.global_order(&process.url));
        passed = admitted(&answers(rush, progress).await?);
        if start.elapsed() < SECOND {
            break;
        }
    }
    Ok(passed)
}

/// What became of the orders that were sent after Redis failed.
struct Outage {
    passed: usize,
    refused: Vec<Answer>,
    others: usize,
    lasted: Duration,
}

impl Outage {
    fn sent(&self) -> usize {
        self.passed + self.refused.len() + self.others
    }

    /// How many the processes together may admit.
    fn most(&self) -> u64 {
        // A period may have begun at any time before, and the last one may go on.
        let periods = self.lasted.as_secs() + 2;
        (PROCESSES * SHARE) as u64 * periods
    }

    fn is_answered(&self) -> bool {
        self.others == 0 && self.passed > 0 && !self.refused.is_empty()
    }
}

/// Lets Redis fail amid orders at all processes.
async fn outage(
    stage: &Stage,
    processes: &Processes,
    failure: impl Future<Output = Result<(), RedisError>>,
) -> Result<Outage, DemoError> {
    let [a, b, c] = processes.all.each_ref().map(|process| customer(stage, process));
    let failed = async {
        tokio::time::sleep(BEFORE).await;
        failure.await?;
        Ok(Instant::now())
    };
    let (failed, a, b, c) = tokio::try_join!(failed, a, b, c)?;
    let lasted = failed.elapsed();
    let after = [a, b, c].into_iter().flatten().filter(|(sent, _)| *sent > failed);
    let (passed, others): (Vec<_>, Vec<_>) =
        after.map(|(_, answer)| answer).partition(|answer| answer.status == 200);
    let (refused, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|answer| answer.status == 429);
    Ok(Outage { passed: passed.len(), refused, others: others.len(), lasted })
}

/// Somebody who orders over and over, one after the other, and when.
async fn customer(
    stage: &Stage,
    process: &OrderProcess,
) -> Result<Vec<(Instant, Answer)>, DemoError> {
    let start = Instant::now();
    let mut answers = Vec::new();
    while start.elapsed() < BEFORE + AFTER {
        let sent = Instant::now();
        answers.push((sent, answer(stage.traffic.global_order(&process.url)).await?));
        tokio::time::sleep(PACE).await;
    }
    Ok(answers)
}

/// Without Redis, each process has its share and no more.
async fn shares(
    stage: &Stage,
    report: &mut SceneReport,
    processes: &Processes,
    outage: &Outage,
    reason: &'static str,
) -> Result<(), DemoError> {
    let most = outage.most();
    let degraded = processes.sum(stage, DEGRADED, "").await?;
    report.promise(
        "meanwhile each process admits its share, three a second, and no more",
        format!("{} passed, at most {most} may; {degraded} processes say so", outage.passed),
        outage.passed as u64 <= most && degraded == 3,
    );
    report.metric(&format!("{DEGRADED} in the outage by {reason}"), degraded);
    for reason in [reason, "guard"] {
        let label = format!("reason=\"{reason}\"");
        let failures = processes.sum(stage, FAILURES, &label).await?;
        report.metric(&format!("{FAILURES}{{{label}}}"), failures);
    }
    Ok(())
}

/// Orders until all processes decide by Redis again.
async fn recovered(
    stage: &Stage,
    report: &mut SceneReport,
    processes: &Processes,
) -> Result<(), DemoError> {
    let start = Instant::now();
    let mut degraded = u64::MAX;
    while degraded > 0 && start.elapsed() < PATIENCE {
        for process in &processes.all {
            answer(stage.traffic.global_order(&process.url)).await?;
        }
        tokio::time::sleep(PACE).await;
        degraded = processes.sum(stage, DEGRADED, "").await?;
    }
    report.promise(
        "once it answers again, all processes go by it again, by themselves",
        format!(
            "{} of {PROCESSES} after {}",
            3_u64.saturating_sub(degraded),
            Shown(start.elapsed())
        ),
        degraded == 0,
    );
    Ok(())
}

fn admitted(answers: &[Answer]) -> usize {
    answers.iter().filter(|answer| answer.status == 200).count()
}

/// How long it is to the next second.
fn rest_of_second() -> Duration {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    SECOND.saturating_sub(Duration::from_nanos(now.subsec_nanos().into()))
}
