use std::time::Duration;

use crate::demo::{
    DemoError,
    progress::Progress,
    report::SceneReport,
    stage::Stage,
    traffic::{Answer, answer, answers, latencies},
};

const SECONDS: usize = 3;
const RUSH: usize = 25;
const LIMIT: usize = 10;
const QUICK: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(2));

pub(in crate::demo) async fn run(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    let base = stage.system.order.url();
    let before = stage.entrance().metrics();
    let progress = Progress::new("orders", SECONDS * RUSH);
    let (mut passed, mut refused) = (Vec::new(), Vec::new());
    let mut each_second = Vec::new();
    for _ in 0..SECONDS {
        // Start with the limiter's second, so that a rush falls into one.
        stage.entrance_is_free().await?;
        let rush = (0..RUSH).map(|_| stage.traffic.order(&base));
        let (through, back): (Vec<_>, Vec<_>) =
            answers(rush, &progress).await?.into_iter().partition(|a| a.status == 200);
        each_second.push(through.len());
        passed.extend(through);
        refused.extend(back);
    }
    drop(progress);

    report.promise(
        "ten orders pass in each second",
        format!("{each_second:?} of {RUSH} each"),
        each_second.iter().all(|passed| *passed == LIMIT),
    );
    let told = refused.iter().filter(|a| a.status == 429 && is_told_when(a)).count();
    report.promise(
        "the rest get 429 with Retry-After",
        format!("{told} of {}", refused.len()),
        told == refused.len() && told == SECONDS * (RUSH - LIMIT),
    );
    let latency = latencies(&passed);
    let quick = latency.within(QUICK.0, QUICK.1);
    report.promise(
        "of those that pass, half are served within 500 ms, all within 2 s",
        latency,
        quick,
    );

    let wait = refused.iter().filter_map(|a| a.retry_after).max().unwrap_or_default();
    tokio::time::sleep(Duration::from_secs(wait)).await;
    let again = answer(stage.traffic.order(&base)).await?;
    report.promise(
        "who comes back after Retry-After gets through",
        format!("{} after {wait} s", again.status),
        again.status == 200,
    );
    let after = stage.entrance().metrics();
    report.metric("orderRl.permitted", after.permitted - before.permitted);
    report.metric("orderRl.refused", after.refused - before.refused);
    Ok(())
}

fn is_told_when(answer: &Answer) -> bool {
    answer.retry_after.is_some_and(|seconds| seconds >= 1)
}
