mod aftermath;
mod leaving;

use std::time::{Duration, Instant};

use self::leaving::Leaving;
use crate::demo::{
    DemoError,
    measurement::{Count, Tally, Time, sample},
    progress::Progress,
    report::SceneReport,
    stage::Stage,
    traffic::count,
};

/// How many hang up at each point of an order.
const IN_THE_GATE: usize = 5;
const AT_THE_INVENTORY: usize = 10;
const IN_THE_QUEUE: usize = 5;
const AS_PROBES: usize = 3;
const WHILE_PAYING: usize = 5;
const COME_BACK: usize = IN_THE_GATE + AT_THE_INVENTORY + IN_THE_QUEUE + AS_PROBES;
/// Long before the calls would have ended by themselves, which hang for 30 s.
const SOON: Duration = Duration::from_secs(2);
const SETTLED: Duration = Duration::from_secs(10);

pub(in crate::demo) async fn run(stage: &Stage, report: &mut SceneReport) -> Result<(), DemoError> {
    let breakers = aftermath::Breakers::of(stage);
    let ledger = aftermath::References::of(&stage.charges().await?);
    let mut leaving = Leaving::new(stage);

    let progress = Progress::new("customers who leave", COME_BACK + WHILE_PAYING);
    let in_the_gate = leaving.in_the_gate(&progress).await?;
    let (at_the_inventory, in_the_queue) = leaving.at_the_inventory(&progress).await?;
    let probes = leaving.as_probes(&progress).await?;
    let mut back = aftermath::come_back(stage, &[&probes]).await?;
    // First, as what comes next does not get past a breaker that has lost them.
    aftermath::probes_are_free(stage, report, &leaving.beside_probes, &back);
    let paying = leaving.while_paying(&progress).await?;
    let left = Instant::now();
    drop(progress);

    let Leaving { points, busy, idle, idle_after, .. } = leaving;
    let hung_up = points.len();
    let points = Tally::of("left", points.into_iter().map(str::to_owned));
    let kept = points.seen().count() == 5 && busy.iter().all(|busy| busy.value() > 0);
    report.promise(
        "customers hang up at every point of an order, and the gauges had shown them",
        [points.into()].into_iter().chain(busy.into_iter().map(Into::into)),
        kept,
    );
    let gauges = idle.len();
    let idle = Count::of("gauges idle", sample! {"taken": 0}, idle);
    let slowest = Time::max("at most after", idle_after);
    let kept = idle.is_all_of(gauges) && gauges > 0 && slowest.value() <= SOON;
    report.promise(
        "every slot, every place in a queue and every connection to a database is back within 2 s",
        [idle.into(), slowest.into()],
        kept,
    );
    breakers.count_no_failure(stage, report, hung_up);

    back.extend(aftermath::come_back(stage, &[&at_the_inventory]).await?);
    back.extend(aftermath::come_back(stage, &[&in_the_gate, &in_the_queue]).await?);
    let served = count("CONFIRMED", sample! {"http": 200, "status": "CONFIRMED"}, &back);
    let kept = served.is_all_of(COME_BACK);
    report.promise(
        "who comes back with the same order gets it CONFIRMED, ten at once: no slot is lost, and no \
         order is taken for one that is still in progress",
        [served.into()],
        kept,
    );
    let settled = aftermath::settled(stage, &paying, left).await?;
    let after = Time::once("after", left.elapsed());
    let kept = settled.is_all_of(WHILE_PAYING) && after.value() <= SETTLED;
    report.promise(
        "who hung up while paying and stays away has his order CONFIRMED within 10 s all the same",
        [settled.into(), after.into()],
        kept,
    );
    ledger.charged_once(stage, report, COME_BACK + WHILE_PAYING).await?;
    breakers.metrics(stage, report);
    stage.bulkhead_metrics(report, "inventoryBh");
    Ok(())
}
