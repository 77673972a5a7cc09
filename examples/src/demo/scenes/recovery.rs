use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use resilience::circuit_breaker::{CircuitBreakerEventKind, State};
use serde_json::Value;

use crate::{
    demo::{
        DemoError,
        latency::Shown,
        progress::Progress,
        report::SceneReport,
        stage::Stage,
        traffic::{Answer, answer, answers},
    },
    faults::FaultPlan,
};

/// As many as open the breaker, all of them charged without anybody hearing of it.
const UNKNOWN: usize = 5;
/// What the open breaker keeps from the provider, to be brought to it later.
const QUEUED: usize = 5;
/// Soon enough for the provider's reports to settle some payments before they are asked for.
const WEBHOOK_DELAY_MS: u64 = 200;
const PATIENCE: Duration = Duration::from_secs(12);
const GLANCE: Duration = Duration::from_millis(50);

pub(in crate::demo) async fn run(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    let base = stage.system.order.url();
    let breaker = stage.breaker("paymentCb");
    let states = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&states);
    let _subscription = breaker.events().subscribe(move |event| {
        if let CircuitBreakerEventKind::StateTransition { to, .. } = event.kind {
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(to);
        }
    });

    // Before the faults are gone, nobody is told and nobody who asks gets an answer.
    stage.provider_faults(FaultPlan { drop_rate: 1.0, ..FaultPlan::default() }).await?;
    let progress = Progress::new("orders", UNKNOWN + QUEUED);
    let unknown = answers((0..UNKNOWN).map(|_| stage.traffic.order(&base)), &progress).await?;
    stage.entrance_is_free().await?;
    let queued = answers((0..QUEUED).map(|_| stage.traffic.order(&base)), &progress).await?;
    drop(progress);
    let orders: Vec<&Answer> = unknown.iter().chain(&queued).collect();
    let pending = orders.iter().filter(|order| order.says("payment_status", "PENDING")).count();
    report.promise(
        "while the answers of the provider break off, every order stands, PENDING",
        format!("{pending} of {}", orders.len()),
        pending == orders.len(),
    );

    let healed = Instant::now();
    stage.webhooks(Some(WEBHOOK_DELAY_MS)).await?;
    stage.provider_faults(FaultPlan::default()).await?;
    stage.report_again().await?;
    let confirmed = confirmed(stage, &orders, healed).await?;
    report.promise(
        "once it recovers, every payment settles as APPROVED and confirms its order",
        format!("{confirmed} of {} after {}", orders.len(), Shown(healed.elapsed())),
        confirmed == orders.len(),
    );
    let by = settled_by(stage, &orders).await?;
    let told = by.iter().map(|(who, times)| format!("{times} {who}")).collect::<Vec<_>>();
    report.promise(
        "each is settled by whichever comes first, the provider's callback or the reconciler",
        told.join(", "),
        by.keys().all(|who| *who == "CALLBACK" || *who == "RECONCILER"),
    );
    charged_once(stage, report, &orders).await?;

    let states = states.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let path: Vec<_> = states.iter().map(State::to_string).collect();
    report.promise(
        "the breaker opens, lets probes through half-open, and closes by itself",
        path.join(", then "),
        states.first() == Some(&State::Open) && states.ends_with(&[State::HalfOpen, State::Closed]),
    );
    stage.breaker_metrics(report, "paymentCb");
    Stage::metrics_of(report, "pgQueryCb.A", &stage.queries());
    stage.webhooks(None).await
}

/// Waits until all orders are confirmed, or for long enough, and counts those that are.
async fn confirmed(stage: &Stage, orders: &[&Answer], since: Instant) -> Result<usize, DemoError> {
    let base = stage.system.order.url();
    loop {
        let mut confirmed = 0;
        for order in orders {
            let url = format!("{base}/orders/{}", id(order));
            confirmed +=
                usize::from(answer(stage.traffic.get(url)).await?.says("status", "CONFIRMED"));
        }
        // The breaker closes by the probes that the queue brings; it is a part of the recovery.
        let is_closed = stage.breaker("paymentCb").state() == State::Closed;
        if (confirmed == orders.len() && is_closed) || since.elapsed() > PATIENCE {
            return Ok(confirmed);
        }
        tokio::time::sleep(GLANCE).await;
    }
}

async fn settled_by(
    stage: &Stage,
    orders: &[&Answer],
) -> Result<BTreeMap<String, usize>, DemoError> {
    let base = stage.system.payment.url();
    let mut by = BTreeMap::new();
    for order in orders {
        let url = format!("{base}/payments/order-{}", id(order));
        let payment = answer(stage.traffic.get(url)).await?.body;
        let who = payment["settled_by"].as_str().unwrap_or("nobody").to_owned();
        *by.entry(who).or_default() += 1;
    }
    Ok(by)
}

/// Looks into the provider's own ledger, where every charge stands.
async fn charged_once(
    stage: &Stage,
    report: &mut SceneReport,
    orders: &[&Answer],
) -> Result<(), DemoError> {
    let ledger = format!("{}/ledger", stage.system.provider.url());
    let ledger = answer(stage.traffic.get(ledger)).await?.body;
    let charges = ledger["charges"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |order: &Answer| -> Vec<&Value> {
        let reference = format!("order-{}", id(order));
        charges.iter().filter(|charge| charge["reference"] == *reference).collect()
    };
    let charges: Vec<_> = orders.iter().map(|order| of(order)).collect();
    let once = charges.iter().filter(|charges| charges.len() == 1).count();
    let requests: u64 = charges.iter().flatten().filter_map(|c| c["requests"].as_u64()).sum();
    report.promise(
        "none is charged twice, says the provider's ledger",
        format!("{once} of {} charged once, by {requests} requests", orders.len()),
        once == orders.len(),
    );
    Ok(())
}

fn id(order: &Answer) -> &str {
    order.body["order_id"].as_str().unwrap_or_default()
}
