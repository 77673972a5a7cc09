//! What is left of customers who have hung up.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use resilience::circuit_breaker::{State, Totals};

use super::AS_PROBES;
use crate::{
    demo::{
        DemoError,
        clients::Customer,
        measurement::{Count, Facts, Number, sample},
        progress::Progress,
        report::SceneReport,
        stage::{GLANCE, Stage},
        traffic::{Answer, answer, answers, count},
    },
    pg::Charge,
};

const PATIENCE: Duration = Duration::from_secs(10);

/// The breakers whose calls are dropped when a customer hangs up, and what they had counted before.
pub(super) struct Breakers([(&'static str, Totals); 3]);

impl Breakers {
    pub(super) fn of(stage: &Stage) -> Self {
        let names = ["accountAccess", "inventoryCb", "paymentServiceCb"];
        Self(names.map(|name| (name, stage.breaker(name).metrics().totals)))
    }

    /// Every call is accounted for, and none as a failure.
    pub(super) fn count_no_failure(&self, stage: &Stage, report: &mut SceneReport, hung_up: usize) {
        let before = self.0.map(|(_, before)| before);
        let now = Self::of(stage).0.map(|(_, now)| now);
        let growth =
            |name, of: fn(Totals) -> u64| Number::growth(name, before.map(of), now.map(of));
        let cancelled = growth("calls cancelled", |totals| totals.cancelled);
        let failed = growth("failures", |totals| totals.failed);
        let kept = cancelled.value() == hung_up as u64 && failed.value() == 0;
        report.promise(
            "no breaker has a call left under way: each has counted it as cancelled, none as a failure \
             of who was asked",
            [cancelled.into(), failed.into()],
            kept,
        );
    }

    pub(super) fn metrics(&self, stage: &Stage, report: &mut SceneReport) {
        for (name, _) in self.0 {
            let cancelled = stage.breaker(name).metrics().totals.cancelled;
            report.metric(&format!("{name}.cancelled"), cancelled);
            stage.breaker_metrics(report, name);
        }
    }
}

/// The orders that the provider has charges of.
pub(super) struct References(BTreeSet<String>);

impl References {
    pub(super) fn of(charges: &[Charge]) -> Self {
        Self(charges.iter().map(|charge| charge.reference.clone()).collect())
    }

    /// Those that are not among these.
    pub(super) fn added_by(&self, charges: &[Charge]) -> Vec<String> {
        Self::of(charges).0.difference(&self.0).cloned().collect()
    }

    /// What was charged since, by order.
    pub(super) async fn charged_once(
        &self,
        stage: &Stage,
        report: &mut SceneReport,
        orders: usize,
    ) -> Result<(), DemoError> {
        let charges = stage.charges().await?;
        let of = |reference: &String| charges.iter().filter(|c| c.reference == *reference).count();
        let new = self.added_by(&charges);
        let samples = new.iter().map(|new| sample! {"reference": new.as_str(), "charges": of(new)});
        let once = Count::of("charged once", sample! {"charges": 1}, samples);
        let kept = once.is_all_of(orders);
        report.promise(
            "each of these orders is charged once, says the provider's ledger, and no other",
            [once.into()],
            kept,
        );
        Ok(())
    }
}

/// Lets customers who have hung up send the same order again, all at once.
pub(super) async fn come_back(
    stage: &Stage,
    customers: &[&[Customer]],
) -> Result<Vec<Answer>, DemoError> {
    stage.entrance_is_free().await?;
    let customers = customers.concat();
    let progress = Progress::new("customers who come back", customers.len());
    answers(customers.iter().map(|customer| customer.order(stage)), &progress).await
}

/// What became of the places of the probes that were hung up on.
pub(super) fn probes_are_free(
    stage: &Stage,
    report: &mut SceneReport,
    beside: &[Answer],
    again: &[Answer],
) {
    let is_now = stage.breaker("inventoryCb").state();
    let expected = sample! {"http": 503, "error": "DEPENDENCY_UNAVAILABLE"};
    let refused = count("refused beside them", expected, beside);
    let through = count("probes get through", sample! {"http": 200}, again);
    let kept = refused.is_all_of(1) && through.is_all_of(AS_PROBES) && is_now == State::Closed;
    report.promise(
        "a half-open breaker gets back the places of its three probes: the next three close it",
        [refused.into(), through.into(), Facts::of("the breaker is", [is_now]).into()],
        kept,
    );
}

/// Waits until the orders of these charges are CONFIRMED, or for long enough.
pub(super) async fn settled(
    stage: &Stage,
    references: &[String],
    since: Instant,
) -> Result<Count, DemoError> {
    let base = stage.system.order.url();
    loop {
        let mut orders = Vec::new();
        for reference in references {
            let id = reference.trim_start_matches("order-");
            orders.push(answer(stage.traffic.get(format!("{base}/orders/{id}"))).await?);
        }
        let expected = sample! {"status": "CONFIRMED", "payment_status": "APPROVED"};
        let confirmed = count("CONFIRMED", expected, &orders);
        if confirmed.is_all_of(references.len()) || since.elapsed() > PATIENCE {
            return Ok(confirmed);
        }
        tokio::time::sleep(GLANCE).await;
    }
}
