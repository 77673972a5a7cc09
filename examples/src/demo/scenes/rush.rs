use std::time::Duration;

use crate::demo::{
    DemoError,
    measurement::{Measurement, Number, sample},
    progress::Progress,
    report::SceneReport,
    stage::Stage,
    traffic::{Answer, answer, answers, count, latencies},
};

const SECONDS: [&str; 3] = ["in the first second", "in the second", "in the third"];
const RUSH: usize = 25;
const LIMIT: usize = 10;
/// A rush that a busy machine did not get into one second is made again, so often.
const TRIES: u64 = 5;
const QUICK: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(2));

pub(in crate::demo) async fn run(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    let base = stage.system.order.url();
    let before = stage.entrance().metrics();
    let progress = Progress::new("orders", SECONDS.len() * RUSH);
    let (mut passed, mut refused) = (Vec::new(), Vec::new());
    let (mut each_second, mut made) = (Vec::new(), Vec::new());
    for second in SECONDS {
        let (all, tries) = in_one_second(stage, &progress).await?;
        made.push(tries);
        each_second.push(count(second, sample! {"http": 200}, &all));
        let (through, back): (Vec<_>, Vec<_>) = all.into_iter().partition(|a| a.status == 200);
        passed.extend(through);
        refused.extend(back);
    }
    drop(progress);

    let kept = each_second.iter().all(|passed| passed.value() == LIMIT);
    let made = Number::sum("rushes made", made).into();
    report.promise(
        "ten orders pass in each second",
        each_second.into_iter().map(Measurement::from).chain([made]),
        kept,
    );
    let told = count(
        "answered 429 with Retry-After",
        sample! {"http": 429, "is_told_when": true},
        &refused,
    );
    let kept = told.is_all_of(SECONDS.len() * (RUSH - LIMIT));
    report.promise("the rest get 429 with Retry-After", [told.into()], kept);
    let latency = latencies(&passed);
    let quick = latency.within(QUICK.0, QUICK.1);
    report.promise(
        "of those that pass, half are served within 500 ms, all within 2 s",
        [latency.into()],
        quick,
    );

    let wait = Number::max("seconds waited", refused.iter().filter_map(|a| a.retry_after));
    tokio::time::sleep(Duration::from_secs(wait.value())).await;
    let again = answer(stage.traffic.order(&base)).await?;
    let through = count("gets through", sample! {"http": 200}, [&again]);
    let kept = through.is_all_of(1);
    report.promise(
        "who comes back after Retry-After gets through",
        [through.into(), wait.into()],
        kept,
    );
    let after = stage.entrance().metrics();
    for (name, before, after) in [
        ("permitted", before.permitted, after.permitted),
        ("refused", before.refused, after.refused),
    ] {
        report.metric(&format!("orderRl.{name} before the rush"), before);
        report.metric(&format!("orderRl.{name}"), after);
    }
    report.prometheus(stage.lines("resilience4j_ratelimiter", "orderRl"));
    Ok(())
}

/// What becomes of a rush in one second of the limiter, and how often it was made.
async fn in_one_second(
    stage: &Stage,
    progress: &Progress,
) -> Result<(Vec<Answer>, u64), DemoError> {
    let base = stage.system.order.url();
    let mut tries = 0;
    loop {
        let second = stage.next_second().await?;
        let rush = (0..RUSH).map(|_| stage.traffic.order(&base));
        let all = answers(rush, progress).await?;
        tries += 1;
        if stage.entrance().metrics().cycle == second || tries == TRIES {
            return Ok((all, tries));
        }
    }
}
