use std::time::Duration;

use crate::demo::{
    DemoError,
    measurement::{Count, sample},
    progress::Progress,
    report::SceneReport,
    stage::Stage,
    traffic::{answer, count, latencies},
};

const BREAKERS: [&str; 3] = ["paymentCb", "paymentServiceCb", "inventoryCb"];
const ORDERS: usize = 20;
/// Slower than ten a second: nobody is refused.
const PACE: Duration = Duration::from_millis(120);
const PROMPT: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(1));

pub(in crate::demo) async fn run(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    let before = BREAKERS.map(|name| transitions(stage, name));
    let progress = Progress::new("orders", ORDERS);
    let order = stage.system.order.url();
    let mut pace = tokio::time::interval(PACE);
    let mut answers = Vec::new();
    for _ in 0..ORDERS {
        pace.tick().await;
        answers.push(answer(stage.traffic.order(&order)).await?);
        progress.step();
    }
    drop(progress);

    let expected = sample! {"http": 200, "status": "CONFIRMED", "payment_status": "APPROVED"};
    let confirmed = count("CONFIRMED and APPROVED", expected, &answers);
    let kept = confirmed.is_all_of(ORDERS);
    report.promise("every order is CONFIRMED, every payment APPROVED", [confirmed.into()], kept);
    let latencies = latencies(&answers);
    let prompt = latencies.within(PROMPT.0, PROMPT.1);
    report.promise("half within 200 ms, all within 1 s", [latencies.into()], prompt);
    let states = BREAKERS.iter().zip(before).map(|(name, before)| {
        let now = transitions(stage, name);
        let is_now = stage.breaker(name).state().to_string();
        sample! {
            "breaker": *name,
            "state": is_now,
            "transitions_before": before,
            "transitions_now": now,
            "is_still": now == before,
        }
    });
    let expected = sample! {"state": "CLOSED", "is_still": true};
    let closed = Count::of("CLOSED all along", expected, states);
    let kept = closed.is_all_of(BREAKERS.len());
    report.promise("no breaker leaves CLOSED", [closed.into()], kept);
    for name in BREAKERS {
        stage.breaker_metrics(report, name);
    }
    Ok(())
}

/// How often the breaker has changed its state since the demo began.
fn transitions(stage: &Stage, name: &str) -> u64 {
    stage.breaker(name).metrics().totals.transitions
}
