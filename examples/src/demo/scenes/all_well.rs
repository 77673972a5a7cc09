use std::time::Duration;

use resilience::circuit_breaker::State;

use crate::demo::{
    DemoError,
    progress::Progress,
    report::SceneReport,
    stage::Stage,
    traffic::{answer, latencies},
};

const ORDERS: usize = 20;
/// Slower than ten a second: nobody is refused.
const PACE: Duration = Duration::from_millis(120);
const PROMPT: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(1));

pub(in crate::demo) async fn run(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
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

    let confirmed = answers
        .iter()
        .filter(|a| a.status == 200 && a.says("status", "CONFIRMED"))
        .filter(|a| a.says("payment_status", "APPROVED"))
        .count();
    report.promise(
        "every order is CONFIRMED, every payment APPROVED",
        format!("{confirmed} of {ORDERS}"),
        confirmed == ORDERS,
    );
    let latencies = latencies(&answers);
    let prompt = latencies.within(PROMPT.0, PROMPT.1);
    report.promise("half within 200 ms, all within 1 s", latencies, prompt);
    let breakers = ["paymentCb", "paymentServiceCb", "inventoryCb"];
    let closed = breakers.iter().filter(|n| stage.breaker(n).state() == State::Closed).count();
    report.promise(
        "no breaker leaves CLOSED",
        format!("{closed} of {} CLOSED", breakers.len()),
        closed == breakers.len(),
    );
    for name in breakers {
        stage.breaker_metrics(report, name);
    }
    Ok(())
}
