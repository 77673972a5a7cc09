use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use resilience::circuit_breaker::{CircuitBreakerEventKind, State};
use tokio::sync::oneshot;

use crate::{
    demo::{
        DemoError,
        measurement::{Count, Facts, Number, Time, ms, sample, whole_micros},
        progress::Progress,
        report::SceneReport,
        stage::Stage,
        traffic::{Answer, answer, answers, count, latencies},
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
/// One refusal is too short to be measured.
const BATCH: u32 = 100;
const BATCHES: u32 = 100;
const REFUSAL: Duration = Duration::from_micros(10);

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
    let served = count("served", sample! {"http": 200}, &reads);
    let latency = latencies(&reads);
    let kept = served.is_all_of(reads.len()) && latency.within(QUICK.0, QUICK.1);
    report.promise(
        "product reads stay fast all along: half within 200 ms, all within 1 s",
        [served.into(), latency.into()],
        kept,
    );
    Ok(())
}

async fn place_orders(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    let base = stage.system.order.url();
    let breaker = stage.breaker("paymentCb");
    // What the breaker counts, call by call.
    let failures = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&failures);
    let _subscription = breaker.events().subscribe(move |event| {
        if let CircuitBreakerEventKind::Error { elapsed, kinds } = event.kind {
            let is_timeout = kinds.contains(&"timeout");
            let failure = sample! {"is_timeout": is_timeout, "ms": ms(whole_micros(elapsed))};
            seen.lock().push(failure);
        }
    });

    let progress = Progress::new("orders", SLOW_ORDERS + QUICK_ORDERS);
    let slow = answers((0..SLOW_ORDERS).map(|_| stage.traffic.order(&base)), &progress).await?;
    let then = breaker.state();
    stage.entrance_is_free().await?;
    let mut quick = Vec::new();
    for _ in 0..QUICK_ORDERS {
        quick.push(answer(stage.traffic.order(&base)).await?);
        progress.step();
    }
    drop(progress);

    let expected = sample! {"http": 200, "status": "ORDERED", "payment_status": "PENDING"};
    let pending = count("ORDERED and PENDING", expected, slow.iter().chain(&quick));
    let kept = pending.is_all_of(SLOW_ORDERS + QUICK_ORDERS);
    report.promise("every customer gets 200 with ORDERED and PENDING", [pending.into()], kept);
    let latency = latencies(&slow);
    let cut = latency.min() >= EARLIEST && latency.within(CUT.0, CUT.1);
    report.promise("while the breaker is closed, after about 2 s", [latency.into()], cut);
    let failures = failures.lock().clone();
    let timeouts = Count::of("failures are timeouts", sample! {"is_timeout": true}, failures);
    let kept = timeouts.is_all_of(SLOW_ORDERS) && then == State::Open;
    report.promise(
        "the breaker counts every timeout, and opens",
        [timeouts.into(), Facts::of("the breaker is", [then]).into()],
        kept,
    );
    let latency = latencies(&quick);
    let fast = latency.within(QUICK.0, QUICK.1);
    report.promise(
        "from then on at once: half of the HTTP answers within 200 ms, all within 1 s",
        [latency.into()],
        fast,
    );
    let timeouts = payments("TIMEOUT", stage, &slow).await?;
    let kept = timeouts.is_all_of(SLOW_ORDERS);
    report.promise(
        "every payment without an answer is TIMEOUT (unknown), none REJECTED",
        [timeouts.into()],
        kept,
    );
    let waiting = payments("REQUESTED", stage, &quick).await?;
    let kept = waiting.is_all_of(QUICK_ORDERS);
    report.promise(
        "every payment that the breaker kept from the provider waits in the queue",
        [waiting.into()],
        kept,
    );
    stage.breaker_metrics(report, "paymentCb");
    stage.time_limiter_metrics(report, "paymentTl");

    let mut each = Vec::new();
    let mut refused = Vec::new();
    for _ in 0..BATCHES {
        let start = Instant::now();
        refused.push((0..BATCH).filter(|_| breaker.try_acquire().is_err()).count() as u64);
        each.push(start.elapsed() / BATCH);
    }
    let (each, refused) = (Time::median("each", each), Number::sum("refusals", refused));
    let kept = each.value() < REFUSAL && refused.value() == u64::from(BATCHES * BATCH);
    report.promise(
        "the breaker's own refusal, `try_acquire` without any HTTP, takes less than 10 µs by the median of \
         a hundred rounds",
        [each.into(), refused.into()],
        kept,
    );
    Ok(())
}

/// How many of these orders have a payment of this status.
async fn payments(
    status: &'static str,
    stage: &Stage,
    orders: &[Answer],
) -> Result<Count, DemoError> {
    let base = stage.system.payment.url();
    let mut payments = Vec::new();
    for order in orders {
        let id = order.body["order_id"].as_str().unwrap_or_default();
        payments.push(answer(stage.traffic.get(format!("{base}/payments/order-{id}"))).await?);
    }
    Ok(count(status, sample! {"status": status}, &payments))
}

/// Reads a product every 20 ms until told to stop.
async fn read_products(
    stage: &Stage,
    mut stopped: oneshot::Receiver<()>,
) -> Result<Vec<Answer>, DemoError> {
    let url = format!("{}/products/book", stage.system.order.url());
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    let mut reads = Vec::new();
    loop {
        tokio::select! {
            _ = &mut stopped => return Ok(reads),
            _ = pace.tick() => reads.push(answer(stage.traffic.get(url.clone())).await?),
        }
    }
}
