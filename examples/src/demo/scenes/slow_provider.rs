use std::time::{Duration, Instant};

use resilience::circuit_breaker::State;
use tokio::sync::oneshot;

use crate::{
    demo::{
        DemoError, Latencies,
        latency::Shown,
        progress::Progress,
        report::SceneReport,
        stage::Stage,
        traffic::{Answer, answer, answers, latencies},
    },
    faults::FaultPlan,
};

const DELAY_MS: u64 = 5_000;
/// As many as the breaker wants to see before it decides.
const SLOW_ORDERS: usize = 5;
const QUICK_ORDERS: usize = 8;
/// The time limiter cuts at 2 s; the rest of the order comes on top.
const EARLIEST: Duration = Duration::from_millis(1_900);
const CUT: (Duration, Duration) = (Duration::from_millis(2_500), Duration::from_secs(3));
const QUICK: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(1));
const REFUSALS: u32 = 10_000;

pub(in crate::demo) async fn run(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    stage.provider_faults(FaultPlan { delay_ms: DELAY_MS, ..FaultPlan::default() }).await?;
    let (stop, stopped) = oneshot::channel();
    let (reads, orders) = tokio::join!(read_products(stage, stopped), async {
        let orders = place_orders(stage, report).await;
        // The reader may have failed and gone; its own error tells.
        let _ = stop.send(());
        orders
    });
    let (reads, ()) = (reads?, orders?);
    let quick = reads.within(QUICK.0, QUICK.1);
    let promise = "product reads stay fast all along: half within 200 ms, all within 1 s";
    report.promise(promise, reads, quick);
    Ok(())
}

async fn place_orders(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    let base = stage.system.order.url();
    let breaker = stage.breaker("paymentCb");

    let progress = Progress::new("orders", SLOW_ORDERS + QUICK_ORDERS);
    let slow = answers((0..SLOW_ORDERS).map(|_| stage.traffic.order(&base)), &progress).await?;
    let counted = breaker.metrics().failed_calls;
    let then = breaker.state();
    stage.entrance_is_free().await?;
    let mut quick = Vec::new();
    for _ in 0..QUICK_ORDERS {
        quick.push(answer(stage.traffic.order(&base)).await?);
        progress.step();
    }
    drop(progress);

    let pending = slow.iter().chain(&quick).filter(|a| is_pending(a)).count();
    report.promise(
        "every customer gets 200 with ORDERED and PENDING",
        format!("{pending} of {}", SLOW_ORDERS + QUICK_ORDERS),
        pending == SLOW_ORDERS + QUICK_ORDERS,
    );
    let latency = latencies(&slow);
    let cut = latency.min() >= EARLIEST && latency.within(CUT.0, CUT.1);
    report.promise("while the breaker is closed, after about 2 s", latency, cut);
    report.promise(
        "the breaker counts every timeout, and opens",
        format!("{counted} of {SLOW_ORDERS} counted, then {then}"),
        usize::try_from(counted) == Ok(SLOW_ORDERS) && then == State::Open,
    );
    let latency = latencies(&quick);
    let fast = latency.within(QUICK.0, QUICK.1);
    report.promise("from then on at once: half within 200 ms, all within 1 s", latency, fast);
    let timeouts = count(stage, &slow, "TIMEOUT").await?;
    report.promise(
        "every payment without an answer is TIMEOUT (unknown), none REJECTED",
        format!("{timeouts} of {SLOW_ORDERS} TIMEOUT"),
        timeouts == SLOW_ORDERS,
    );
    let waiting = count(stage, &quick, "REQUESTED").await?;
    report.promise(
        "every payment that the breaker kept from the provider waits in the queue",
        format!("{waiting} of {QUICK_ORDERS} REQUESTED"),
        waiting == QUICK_ORDERS,
    );
    stage.breaker_metrics(report, "paymentCb");

    let start = Instant::now();
    let refused = (0..REFUSALS).filter(|_| breaker.try_acquire().is_err()).count();
    let each = start.elapsed() / REFUSALS;
    report.promise(
        "a refusal itself takes less than 10 µs",
        format!("{} each, {refused} refusals", Shown(each)),
        each < Duration::from_micros(10) && u32::try_from(refused) == Ok(REFUSALS),
    );
    Ok(())
}

fn is_pending(answer: &Answer) -> bool {
    answer.status == 200
        && answer.says("status", "ORDERED")
        && answer.says("payment_status", "PENDING")
}

/// How many of these orders have a payment of this status.
async fn count(stage: &Stage, orders: &[Answer], status: &str) -> Result<usize, DemoError> {
    let base = stage.system.payment.url();
    let mut count = 0;
    for order in orders {
        let id = order.body["order_id"].as_str().unwrap_or_default();
        let payment = answer(stage.traffic.get(format!("{base}/payments/order-{id}"))).await?;
        count += usize::from(payment.says("status", status));
    }
    Ok(count)
}

/// Reads a product every 20 ms until told to stop.
async fn read_products(
    stage: &Stage,
    mut stopped: oneshot::Receiver<()>,
) -> Result<Latencies, DemoError> {
    let url = format!("{}/products/book", stage.system.order.url());
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    let mut reads = Vec::new();
    loop {
        tokio::select! {
            _ = &mut stopped => return Ok(latencies(&reads)),
            _ = pace.tick() => reads.push(answer(stage.traffic.get(url.clone())).await?),
        }
    }
}
