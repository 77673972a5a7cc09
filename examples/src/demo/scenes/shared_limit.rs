use std::time::{Duration, Instant, SystemTime};

use crate::{
    demo::{
        DemoError,
        measurement::{Count, Measurement, Number, Time, sample},
        processes::{OrderProcess, Processes, sum, value},
        progress::Progress,
        report::SceneReport,
        stage::Stage,
        traffic::{Answer, answer, answers, count, latencies},
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
/// What is counted apart: at each process, and in each second.
const NAMES: [&str; PROCESSES] = ["at one process", "at the second", "at the third"];
const SECONDS: [&str; 2] = ["in one second", "in the next"];
/// The period of the limit, and of a window of Redis.
const SECOND: Duration = Duration::from_secs(1);
const PACE: Duration = Duration::from_millis(8);
/// How long orders come before Redis fails, and afterwards: less than the guard stays open.
const BEFORE: Duration = Duration::from_millis(200);
const AFTER: Duration = Duration::from_millis(850);
/// Half and all of the refusals: the guard keeps most from the 50 ms that a decision may take, and the
/// way there and back comes on top.
const QUICK: (Duration, Duration) = (Duration::from_millis(25), Duration::from_millis(250));
/// A rush that a busy machine did not get into one second, or of which it did not let Redis decide each
/// order within 50 ms, is made again, so often.
const TRIES: u64 = 5;
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
        [stalled.answered().into()],
        stalled.is_answered(),
    );
    let latency = latencies(stalled.of(429));
    let quick = latency.within(QUICK.0, QUICK.1);
    report.promise(
        "no decision waits longer than its 50 ms, and after five none at all: half of the refusals \
         within 25 ms, all within 250 ms",
        [latency.into()],
        quick,
    );
    shares(stage, report, &processes, &stalled, "timeout").await?;
    redis.go_on().await?;
    recovered(stage, report, &processes).await?;

    let killed = outage(stage, &processes, redis.kill()).await?;
    report.promise(
        "Redis is killed: each order is answered, 200 or 429",
        [killed.answered().into()],
        killed.is_answered(),
    );
    shares(stage, report, &processes, &killed, "connection").await?;
    redis.restart().await?;
    recovered(stage, report, &processes).await?;
    one_limit(stage, report, &processes, "once it is back, ten pass again").await?;
    for name in [DECISIONS, DEGRADED] {
        note(report, name, processes.lines(stage, name, "").await?);
    }
    Ok(())
}

/// Takes note of what a metric comes to in all processes together.
fn note(report: &mut SceneReport, name: &str, lines: Vec<String>) {
    report.metric(name, sum(&lines));
    report.prometheus(lines);
}

/// Orders at the entrance where each process has a limit of its own.
async fn own_limits(
    stage: &Stage,
    report: &mut SceneReport,
    processes: &Processes,
) -> Result<(), DemoError> {
    let progress = Progress::new("orders", PROCESSES * RUSH);
    let mut passed = Vec::new();
    for (process, name) in processes.all.iter().zip(NAMES) {
        let rush = (0..RUSH).map(|_| stage.traffic.order(&process.url));
        passed.push(admitted(name, &answers(rush, &progress).await?));
    }
    drop(progress);
    let kept = passed.len() == PROCESSES && passed.iter().all(|passed| passed.value() == LIMIT);
    report.promise(
        "with a limit of ten in each of three processes, three times as much passes",
        passed.into_iter().map(Measurement::from),
        kept,
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
    let progress = Progress::new("orders", SECONDS.len() * PROCESSES * RUSH);
    let mut each_second = Vec::new();
    let mut made = Vec::new();
    for second in SECONDS {
        let (passed, rushes) = in_one_second(second, stage, processes, &progress).await?;
        each_second.push(passed);
        made.push(rushes);
    }
    drop(progress);
    let kept = each_second.iter().all(|passed| passed.value() == LIMIT);
    let made = Measurement::from(Number::sum("rushes made", made));
    report.promise(promise, each_second.into_iter().map(Into::into).chain([made]), kept);
    Ok(())
}

/// How many of a rush at all processes pass, and how often it was made.
async fn in_one_second(
    second: &'static str,
    stage: &Stage,
    processes: &Processes,
    progress: &Progress,
) -> Result<(Count, u64), DemoError> {
    let mut tries = 0;
    loop {
        let failures = sum(&processes.lines(stage, FAILURES, "").await?);
        // Redis' windows are the seconds of its clock, which is this machine's.
        tokio::time::sleep(rest_of_second()).await;
        let start = Instant::now();
        let rush = (0..RUSH).flat_map(|_| &processes.all);
        let rush = rush.map(|process| stage.traffic.global_order(&process.url));
        let passed = admitted(second, &answers(rush, progress).await?);
        let is_in_one = start.elapsed() < SECOND;
        let is_by_redis = sum(&processes.lines(stage, FAILURES, "").await?) == failures;
        tries += 1;
        if (is_in_one && is_by_redis) || tries == TRIES {
            return Ok((passed, tries));
        }
        // A process that got no decision in time does without Redis for a while.
        back(stage, processes).await?;
    }
}

/// What became of the orders that were sent after Redis failed.
struct Outage {
    answers: Vec<Answer>,
    lasted: Duration,
}

impl Outage {
    /// The answers with this status.
    fn of(&self, status: u16) -> impl Iterator<Item = &Answer> {
        self.answers.iter().filter(move |answer| answer.status == status)
    }

    /// How many were answered as they should be.
    fn answered(&self) -> Count {
        let samples = self.answers.iter().map(|answer| {
            let mut sample = answer.sample();
            sample.insert("is_decided".to_owned(), matches!(answer.status, 200 | 429).into());
            sample
        });
        Count::of("answered 200 or 429", sample! {"is_decided": true}, samples)
    }

    /// How many the processes together may admit.
    fn most(&self) -> u64 {
        // A period may have begun at any time before, and the last one may go on.
        let periods = self.lasted.as_secs() + 2;
        (PROCESSES * SHARE) as u64 * periods
    }

    fn is_answered(&self) -> bool {
        let (passed, refused) = (self.of(200).count(), self.of(429).count());
        passed > 0 && refused > 0 && passed + refused == self.answers.len()
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
    Ok(Outage { answers: after.map(|(_, answer)| answer).collect(), lasted })
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
    let passed = admitted("passed", &outage.answers);
    let most = outage.most();
    let lines = processes.lines(stage, DEGRADED, "").await?;
    let degraded = Number::sum("processes that say so", lines.iter().filter_map(|l| value(l)));
    let say_so = degraded.value();
    let kept = passed.value() as u64 <= most && say_so == PROCESSES as u64;
    report.promise(
        "meanwhile each process admits its share, three in every second that is touched, and no more",
        [
            passed.into(),
            Time::once("in", outage.lasted).into(),
            Number::once("at most", most).into(),
            degraded.into(),
        ],
        kept,
    );
    note(report, &format!("{DEGRADED} in the outage by {reason}"), lines);
    for reason in [reason, "guard"] {
        let label = format!("reason=\"{reason}\"");
        let lines = processes.lines(stage, FAILURES, &label).await?;
        note(report, &format!("{FAILURES}{{{label}}}"), lines);
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
    let back = back(stage, processes).await?;
    let kept = back.is_all_of(PROCESSES);
    report.promise(
        "once it answers again, all processes go by it again, by themselves",
        [back.into(), Time::once("after", start.elapsed()).into()],
        kept,
    );
    Ok(())
}

/// Orders until all processes decide by Redis, or for long enough, and counts those that do.
async fn back(stage: &Stage, processes: &Processes) -> Result<Count, DemoError> {
    let start = Instant::now();
    loop {
        for process in &processes.all {
            answer(stage.traffic.global_order(&process.url)).await?;
        }
        tokio::time::sleep(PACE).await;
        let lines = processes.lines(stage, DEGRADED, "").await?;
        let states = lines.iter().filter_map(|line| Some(sample! {"degraded": value(line)?}));
        let back = Count::of("back", sample! {"degraded": 0}, states);
        if back.is_all_of(PROCESSES) || start.elapsed() > PATIENCE {
            return Ok(back);
        }
    }
}

fn admitted(name: &'static str, answers: &[Answer]) -> Count {
    count(name, sample! {"http": 200}, answers)
}

/// How long it is to the next second.
fn rest_of_second() -> Duration {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    SECOND.saturating_sub(Duration::from_nanos(now.subsec_nanos().into()))
}
