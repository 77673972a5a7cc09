use std::time::Duration;

use resilience::circuit_breaker::State;

use crate::{
    demo::{
        DemoError,
        measurement::{Facts, Number, sample},
        progress::Progress,
        report::SceneReport,
        stage::{Stage, until},
        traffic::{answer, answers, count, latencies},
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

    let confirmed = count("CONFIRMED", sample! {"http": 200, "status": "CONFIRMED"}, &hanging);
    let kept = confirmed.is_all_of(SLOTS);
    report.promise(
        "the ten that hang are served once the inventory answers",
        [confirmed.into(), latencies(&hanging).into()],
        kept,
    );
    let free = stage.inventory_slots().available_concurrent_calls();
    report.promise(
        "afterwards every slot is free",
        [Number::once("slots free", free.into()).into()],
        usize::try_from(free) == Ok(SLOTS),
    );
    stage.bulkhead_metrics(report, "inventoryBh");
    stage.breaker_metrics(report, "inventoryCb");
    stage.breaker_metrics(report, "paymentCb");
    let breaker = stage.breaker("inventoryCb");
    let (after, failed) = (breaker.state(), breaker.metrics().failed_calls);
    report.promise(
        "our own limit is no failure of the inventory: its breaker stays CLOSED and counts none",
        [Facts::of("the breaker is", [after]).into(), Number::once("failures", failed).into()],
        after == State::Closed && failed == 0,
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
    let expected = sample! {"http": 503, "error": "DEPENDENCY_BUSY", "is_told_when": true};
    let busy = count("refused with Retry-After", expected, &refused);
    let latency = latencies(&refused);
    let in_time = latency.min() >= EARLIEST && latency.within(WAIT.0, WAIT.1);
    let kept = busy.is_all_of(REFUSED) && in_time && still_full;
    report.promise(
        "the 11th concurrent call and those after it get 503 with Retry-After, after 50 ms",
        [busy.into(), latency.into()],
        kept,
    );

    let payment = stage.system.payment.url();
    let mut payments = Vec::new();
    for _ in 0..PAYMENTS {
        payments.push(answer(stage.traffic.payment(&payment)).await?);
        progress.step();
    }
    let expected = sample! {"http": 200, "status": "APPROVED"};
    let approved = count("APPROVED", expected, &payments);
    let latency = latencies(&payments);
    let still_full = slots.available_concurrent_calls() == 0;
    let prompt = latency.within(PROMPT.0, PROMPT.1);
    let kept = approved.is_all_of(PAYMENTS) && prompt && still_full;
    report.promise(
        "payments are unaffected meanwhile: APPROVED, half within 200 ms, all within 1 s",
        [approved.into(), latency.into()],
        kept,
    );
    Ok(())
}
