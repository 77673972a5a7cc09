use std::time::Duration;

use resilience::circuit_breaker::State;

use crate::{
    demo::{
        DemoError,
        progress::Progress,
        report::SceneReport,
        stage::{Stage, until},
        traffic::{answer, answers, latencies},
    },
    faults::FaultPlan,
};

const DELAY_MS: u64 = 3_000;
const SLOTS: usize = 10;
const REFUSED: usize = 5;
const PAYMENTS: usize = 20;
/// The wait for a slot is 50 ms; the rest of the order comes on top.
const EARLIEST: Duration = Duration::from_millis(50);
const WAIT: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(1));
const PROMPT: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(1));

pub(in crate::demo) async fn run(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    stage.inventory_faults(FaultPlan { delay_ms: DELAY_MS, ..FaultPlan::default() }).await?;
    let progress = Progress::new("orders and payments", SLOTS + REFUSED + PAYMENTS);
    let order = stage.system.order.url();
    let hanging = answers((0..SLOTS).map(|_| stage.traffic.order(&order)), &progress);
    let (hanging, beside) = tokio::join!(hanging, beside(stage, report, &progress));
    let (hanging, ()) = (hanging?, beside?);
    drop(progress);

    let confirmed = hanging.iter().filter(|a| a.says("status", "CONFIRMED")).count();
    let latency = latencies(&hanging);
    report.promise(
        "the ten that hang are served once the inventory answers",
        format!("{confirmed} of {SLOTS} CONFIRMED; {latency}"),
        confirmed == SLOTS,
    );
    let free = stage.inventory_slots().available_concurrent_calls();
    report.promise(
        "afterwards every slot is free",
        format!("{free} of {SLOTS} free"),
        usize::try_from(free) == Ok(SLOTS),
    );
    stage.breaker_metrics(report, "inventoryCb");
    let after = stage.breaker("inventoryCb").state();
    report.promise(
        "our own limit is no failure of the inventory: its breaker stays CLOSED",
        after,
        after == State::Closed,
    );
    Ok(())
}

/// What happens while ten orders hang.
async fn beside(
    stage: &Stage,
    report: &mut SceneReport,
    progress: &Progress,
) -> Result<(), DemoError> {
    let slots = stage.inventory_slots();
    until("ten calls hang", || slots.available_concurrent_calls() == 0).await?;
    // The ten orders used up this second at the entrance.
    stage.entrance_is_free().await?;

    let order = stage.system.order.url();
    let refused = answers((0..REFUSED).map(|_| stage.traffic.order(&order)), progress).await?;
    let still_full = slots.available_concurrent_calls() == 0;
    let busy = refused
        .iter()
        .filter(|a| a.status == 503 && a.says("error", "DEPENDENCY_BUSY"))
        .filter(|a| a.retry_after.is_some())
        .count();
    let latency = latencies(&refused);
    let in_time = latency.min() >= EARLIEST && latency.within(WAIT.0, WAIT.1);
    report.promise(
        "the 11th concurrent call and those after it get 503 with Retry-After, after 50 ms",
        format!("{busy} of {REFUSED} refused; {latency}"),
        busy == REFUSED && in_time && still_full,
    );

    let payment = stage.system.payment.url();
    let mut payments = Vec::new();
    for _ in 0..PAYMENTS {
        payments.push(answer(stage.traffic.payment(&payment)).await?);
        progress.step();
    }
    let approved = payments.iter().filter(|a| a.says("status", "APPROVED")).count();
    let latency = latencies(&payments);
    let still_full = slots.available_concurrent_calls() == 0;
    report.promise(
        "payments are unaffected meanwhile: APPROVED, half within 200 ms, all within 1 s",
        format!("{approved} of {PAYMENTS} APPROVED; {latency}"),
        approved == PAYMENTS && latency.within(PROMPT.0, PROMPT.1) && still_full,
    );
    Ok(())
}
