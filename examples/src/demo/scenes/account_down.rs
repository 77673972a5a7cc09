use std::time::{Duration, Instant};

use resilience::circuit_breaker::State;

use crate::{
    access::{ACCESS_UNKNOWN, FORBIDDEN},
    demo::{
        DemoError,
        measurement::{Count, Facts, Measurement, Number, Time, sample},
        progress::Progress,
        report::SceneReport,
        stage::{Stage, VERSION_LIFETIME},
        traffic::{Answer, answer, count, latencies},
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
    let charges_before = stage.charges().await?.len() as u64;
    let refused = orders_of(stage, &new, &progress).await?;
    let opened = stage.breaker("accountAccess").state();
    // What was said before the outage is over then.
    tokio::time::sleep(VERSION_LIFETIME).await;
    let kept = orders_of(stage, &known, &progress).await?;
    let still_denied = orders_of(stage, &[barred], &progress).await?;
    drop(progress);

    let confirmed = |name, answers: &[Answer]| {
        count(name, sample! {"http": 200, "status": "CONFIRMED"}, answers)
    };
    let orders = [confirmed("CONFIRMED before", &before), confirmed("in the outage", &kept)];
    let is_kept = orders.iter().all(|orders| orders.is_all_of(KNOWN));
    report.promise(
        "cached permissions keep working: whose order was CONFIRMED before gets the next one CONFIRMED",
        orders.map(Measurement::from),
        is_kept,
    );
    let expected = sample! {"http": 503, "error": ACCESS_UNKNOWN, "is_told_when": true};
    let unknown = count("ACCESS_UNKNOWN with Retry-After", expected, &refused);
    let latency = latencies(&refused);
    let is_kept = unknown.is_all_of(NEW) && latency.within(QUICK.0, QUICK.1);
    report.promise(
        "others get 503 ACCESS_UNKNOWN with Retry-After: half within 200 ms, all within 1 s",
        [unknown.into(), latency.into()],
        is_kept,
    );
    let expected = sample! {"http": 403, "error": FORBIDDEN};
    let forbidden = count("FORBIDDEN", expected, denied.iter().chain(&still_denied));
    let is_kept = forbidden.is_all_of(2);
    report.promise(
        "a cached no stays a no, 403, before and in the outage",
        [forbidden.into()],
        is_kept,
    );
    let charges_now = stage.charges().await?.len() as u64;
    let made = Number::growth("charges", [charges_before], [charges_now]);
    let ordered = refused.iter().map(|answer| !answer.body["order_id"].is_null());
    let ordered = ordered.map(|has_order| sample! {"has_order": has_order});
    let outside = Count::of("without an order", sample! {"has_order": false}, ordered);
    let is_kept = outside.is_all_of(NEW) && made.value() == KNOWN as u64;
    report.promise(
        "nobody gets in: none of the others has an order, and the provider's ledger has no charge but \
         those of the known",
        [outside.into(), made.into()],
        is_kept,
    );
    let unchecked = count("unchecked", sample! {"permission": "unchecked"}, &kept);
    let is_kept = unchecked.is_all_of(KNOWN);
    report.promise(
        "whether permissions have changed fails open, and every answer says so",
        [unchecked.into()],
        is_kept,
    );
    report.promise(
        "the breaker of permissions opens: a service that is down is left alone",
        [Facts::of("the breaker is", [opened]).into()],
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

/// Those who were turned away come back until all of them have got in.
async fn recovers(stage: &Stage, report: &mut SceneReport, users: &[i64]) -> Result<(), DemoError> {
    stage.entrance_is_free().await?;
    stage.account_faults(FaultPlan::default()).await?;
    let healed = Instant::now();
    let base = stage.system.order.url();
    let mut turned_away = users.to_vec();
    let mut answers = Vec::new();
    while let Some(user) = turned_away.last()
        && healed.elapsed() < PATIENCE
    {
        let again = answer(stage.traffic.order_by(&base, *user)).await?;
        if again.status == 200 {
            turned_away.pop();
            answers.push(again);
        } else {
            tokio::time::sleep(GLANCE).await;
        }
    }
    let after = Time::once("after", healed.elapsed());
    let breaker = stage.breaker("accountAccess").state();
    let served = count("served", sample! {"http": 200}, &answers);
    let is_kept = served.is_all_of(users.len()) && breaker == State::Closed;
    report.promise(
        "once it is back everybody gets in again, and the breaker closes",
        [served.into(), after.into(), Facts::of("the breaker is", [breaker]).into()],
        is_kept,
    );
    Ok(())
}
