use std::time::{Duration, Instant};

use resilience::circuit_breaker::State;

use crate::{
    access::{ACCESS_UNKNOWN, FORBIDDEN},
    demo::{
        DemoError,
        latency::Shown,
        progress::Progress,
        report::SceneReport,
        stage::{Stage, VERSION_LIFETIME},
        traffic::{Answer, answer, latencies},
    },
    faults::FaultPlan,
};

const KNOWN: usize = 4;
/// More than open the breaker.
const NEW: usize = 8;
const QUICK: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(1));
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(50);

pub(in crate::demo) async fn run(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    let known: Vec<_> = (0..KNOWN).map(|_| stage.traffic.new_user()).collect();
    let new: Vec<_> = (0..NEW).map(|_| stage.traffic.new_user()).collect();
    let barred = stage.traffic.new_user();
    let progress = Progress::new("orders", 2 * KNOWN + NEW + 2);

    stage.service_role(barred, false).await?;
    let before = orders_of(stage, &known, &progress).await?;
    let denied = orders_of(stage, &[barred], &progress).await?;
    stage.entrance_is_free().await?;
    stage.account_faults(FaultPlan { error_rate: 1.0, ..FaultPlan::default() }).await?;
    let charges_before = charges(stage).await?;
    let refused = orders_of(stage, &new, &progress).await?;
    let opened = stage.breaker("accountAccess").state();
    // What was said before the outage is over then.
    tokio::time::sleep(VERSION_LIFETIME).await;
    let kept = orders_of(stage, &known, &progress).await?;
    let still_denied = orders_of(stage, &[barred], &progress).await?;
    drop(progress);

    let confirmed = |answers: &[Answer]| {
        answers.iter().filter(|a| a.status == 200 && a.says("status", "CONFIRMED")).count()
    };
    report.promise(
        "cached permissions keep working: whose order was CONFIRMED before gets the next one CONFIRMED",
        format!("{} of {KNOWN} before, {} of {KNOWN} in the outage", confirmed(&before), confirmed(&kept)),
        confirmed(&before) == KNOWN && confirmed(&kept) == KNOWN,
    );
    let unknown =
        refused.iter().filter(|a| a.status == 503 && a.says("error", ACCESS_UNKNOWN)).count();
    let told = refused.iter().filter(|a| a.retry_after.is_some()).count();
    let latency = latencies(&refused);
    report.promise(
        "others get 503 ACCESS_UNKNOWN with Retry-After: half within 200 ms, all within 1 s",
        format!("{unknown} of {NEW}, {told} with Retry-After; {latency}"),
        unknown == NEW && told == NEW && latency.within(QUICK.0, QUICK.1),
    );
    let forbidden = denied.iter().chain(&still_denied);
    let forbidden = forbidden.filter(|a| a.status == 403 && a.says("error", FORBIDDEN)).count();
    report.promise(
        "a cached no stays a no, 403, before and in the outage",
        format!("{forbidden} of 2"),
        forbidden == 2,
    );
    let in_all = charges(stage).await? - charges_before;
    let orders = refused.iter().filter(|a| !a.body["order_id"].is_null()).count();
    report.promise(
        "nobody gets in: none of the others has an order, and the provider's ledger has no charge of theirs",
        format!("{orders} orders; {in_all} charges, {KNOWN} of them by who was known"),
        orders == 0 && in_all == KNOWN,
    );
    let unchecked = kept.iter().filter(|a| a.is_unchecked).count();
    report.promise(
        "whether permissions have changed fails open, and every answer says so",
        format!("{unchecked} of {KNOWN} unchecked"),
        unchecked == KNOWN,
    );
    report.promise(
        "the breaker of permissions opens: a service that is down is left alone",
        opened,
        opened == State::Open,
    );
    stage.breaker_metrics(report, "accountAccess");
    stage.breaker_metrics(report, "accountRead");
    recovers(stage, report, &new).await
}

/// Lets each of these users order once, one after the other.
async fn orders_of(
    stage: &Stage,
    users: &[i64],
    progress: &Progress,
) -> Result<Vec<Answer>, DemoError> {
    let base = stage.system.order.url();
    let mut answers = Vec::with_capacity(users.len());
    for user in users {
        answers.push(answer(stage.traffic.order_by(&base, *user)).await?);
        progress.step();
    }
    Ok(answers)
}

/// How many charges the provider has in its ledger.
async fn charges(stage: &Stage) -> Result<usize, DemoError> {
    let ledger = answer(stage.traffic.get(format!("{}/ledger", stage.system.provider.url())));
    Ok(ledger.await?.body["charges"].as_array().map_or(0, Vec::len))
}

/// Those who were turned away come back until all of them have got in.
async fn recovers(stage: &Stage, report: &mut SceneReport, users: &[i64]) -> Result<(), DemoError> {
    stage.entrance_is_free().await?;
    stage.account_faults(FaultPlan::default()).await?;
    let healed = Instant::now();
    let base = stage.system.order.url();
    let mut served = 0;
    while served < users.len() && healed.elapsed() < PATIENCE {
        let again = answer(stage.traffic.order_by(&base, users[served])).await?;
        if again.status == 200 {
            served += 1;
        } else {
            tokio::time::sleep(GLANCE).await;
        }
    }
    let breaker = stage.breaker("accountAccess").state();
    report.promise(
        "once it is back everybody gets in again, and the breaker closes",
        format!("{served} of {} after {}, {breaker}", users.len(), Shown(healed.elapsed())),
        served == users.len() && breaker == State::Closed,
    );
    Ok(())
}
