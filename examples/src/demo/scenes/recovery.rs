use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use resilience::circuit_breaker::{CircuitBreakerEventKind, State};

use crate::{
    demo::{
        DemoError,
        measurement::{Count, Facts, Number, Tally, Time, sample},
        progress::Progress,
        report::SceneReport,
        stage::Stage,
        traffic::{Answer, answer, answers, count},
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
    let expected = sample! {"http": 200, "status": "ORDERED", "payment_status": "PENDING"};
    let pending = count("PENDING", expected, orders.iter().copied());
    let kept = pending.is_all_of(orders.len());
    report.promise(
        "while the answers of the provider break off, every order stands, PENDING",
        [pending.into()],
        kept,
    );

    let healed = Instant::now();
    stage.webhooks(Some(WEBHOOK_DELAY_MS)).await?;
    stage.provider_faults(FaultPlan::default()).await?;
    stage.report_again().await?;
    let confirmed = confirmed(stage, &orders, healed).await?;
    let kept = confirmed.is_all_of(orders.len());
    report.promise(
        "once it recovers, every payment settles as APPROVED and confirms its order",
        [confirmed.into(), Time::once("after", healed.elapsed()).into()],
        kept,
    );
    let by = settled_by(stage, &orders).await?;
    let kept = by.seen().all(|who| who == "CALLBACK" || who == "RECONCILER");
    report.promise(
        "each is settled by whichever comes first, the provider's callback or the reconciler",
        [by.into()],
        kept,
    );
    charged_once(stage, report, &orders).await?;

    let states = states.lock().unwrap_or_else(PoisonError::into_inner).clone();
    report.promise(
        "the breaker opens, lets probes through half-open, and closes by itself",
        [Facts::of("the breaker is", &states).into()],
        states.first() == Some(&State::Open) && states.ends_with(&[State::HalfOpen, State::Closed]),
    );
    stage.breaker_metrics(report, "paymentCb");
    Stage::metrics_of(report, "pgQueryCb.A", &stage.queries());
    stage.webhooks(None).await
}

/// Waits until all orders are confirmed, or for long enough, and counts those that are.
async fn confirmed(stage: &Stage, orders: &[&Answer], since: Instant) -> Result<Count, DemoError> {
    let base = stage.system.order.url();
    loop {
        let mut found = Vec::new();
        for order in orders {
            let url = format!("{base}/orders/{}", id(order));
            found.push(answer(stage.traffic.get(url)).await?);
        }
        let expected = sample! {"status": "CONFIRMED", "payment_status": "APPROVED"};
        let confirmed = count("CONFIRMED", expected, &found);
        // The breaker closes by the probes that the queue brings; it is a part of the recovery.
        let is_closed = stage.breaker("paymentCb").state() == State::Closed;
        if (confirmed.is_all_of(orders.len()) && is_closed) || since.elapsed() > PATIENCE {
            return Ok(confirmed);
        }
        tokio::time::sleep(GLANCE).await;
    }
}

async fn settled_by(stage: &Stage, orders: &[&Answer]) -> Result<Tally, DemoError> {
    let base = stage.system.payment.url();
    let mut by = Vec::new();
    for order in orders {
        let url = format!("{base}/payments/order-{}", id(order));
        let payment = answer(stage.traffic.get(url)).await?.body;
        by.push(payment["settled_by"].as_str().unwrap_or("nobody").to_owned());
    }
    Ok(Tally::of("settled by", by))
}

/// Looks into the provider's own ledger, where every charge stands.
async fn charged_once(
    stage: &Stage,
    report: &mut SceneReport,
    orders: &[&Answer],
) -> Result<(), DemoError> {
    let charges = stage.charges().await?;
    let of = |order: &&Answer| {
        let reference = format!("order-{}", id(order));
        let charges = charges.iter().filter(|charge| charge.reference == reference);
        charges.map(|charge| charge.requests).collect::<Vec<_>>()
    };
    let of_each: Vec<_> = orders.iter().map(of).collect();
    let samples = of_each.iter().map(|requests| sample! {"charges": requests.len()});
    let once = Count::of("charged once", sample! {"charges": 1}, samples);
    let requests = Number::sum("requests", of_each.into_iter().flatten().map(u64::from));
    let kept = once.is_all_of(orders.len());
    report.promise(
        "none is charged twice, says the provider's ledger",
        [once.into(), requests.into()],
        kept,
    );
    Ok(())
}

fn id(order: &Answer) -> &str {
    order.body["order_id"].as_str().unwrap_or_default()
}
