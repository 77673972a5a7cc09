use crate::{
    Resilience,
    metrics::family::{About, Families, Owner, number},
};

static CALLS: About = About::gauge(
    "resilience_retry_budget_calls",
    &[],
    "Calls of the last ten seconds that the retry budget counts",
);
static RETRIES: About = About::gauge(
    "resilience_retry_budget_retries",
    &[],
    "Retries that were granted in the last ten seconds",
);
static AVAILABLE: About =
    About::gauge("resilience_retry_budget_available", &[], "Retries that would be granted now");
static REFUSED: About =
    About::counter("resilience_retry_budget_refused_total", &[], "Retries that were refused");

pub(super) fn collect(registry: &Resilience, families: &mut Families) {
    for budget in registry.retry_budgets() {
        let metrics = budget.metrics();
        let mut out = families.of(Owner::named(budget.name()));
        out.level(&CALLS, &[], number(metrics.calls));
        out.level(&RETRIES, &[], number(metrics.retries));
        out.level(&AVAILABLE, &[], number(metrics.available));
        out.count(&REFUSED, &[], metrics.refused);
    }
}
