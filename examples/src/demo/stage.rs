use std::time::{Duration, Instant};

use resilience::{Bulkhead, CircuitBreaker, IdempotencyKey, RateLimiter, Resilience};
use serde::Deserialize;
use serde_json::json;

use super::{
    DemoError,
    report::SceneReport,
    traffic::{Traffic, answer},
};
use crate::{
    access::Lifetimes, assembly::Settling, faults::FaultPlan, pg::Charge, system::System,
    web::Secret,
};

const PATIENCE: Duration = Duration::from_secs(10);
/// How long what was said about the version of permissions is good for.
pub(super) const VERSION_LIFETIME: Duration = Duration::from_millis(200);
/// How often it is looked whether something is so.
pub(super) const GLANCE: Duration = Duration::from_millis(2);

/// The running system and the library's own view of it.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) system: System,
    pub(super) traffic: Traffic,
    pub(super) registry: Resilience,
}

impl Stage {
    pub(super) async fn set(registry: Resilience) -> Result<Self, DemoError> {
        let system = System::start(&registry, &settling(), lifetimes()).await?;
        Ok(Self { system, traffic: Traffic::new()?, registry })
    }

    pub(super) fn breaker(&self, name: &str) -> CircuitBreaker {
        self.registry.circuit_breaker(name)
    }

    /// The breaker of questions to the provider.
    pub(super) fn queries(&self) -> CircuitBreaker {
        self.breaker("pgQueryCb").keyed("A")
    }

    pub(super) fn entrance(&self) -> RateLimiter {
        self.registry.rate_limiter("orderRl")
    }

    pub(super) fn inventory_slots(&self) -> Bulkhead {
        self.registry.bulkhead("inventoryBh")
    }

    /// Brings the system back to where every scene starts: no faults, breakers closed and empty,
    /// nothing under way, a full second's worth of orders free.
    pub(super) async fn reset(&self) -> Result<(), DemoError> {
        self.provider_faults(FaultPlan::default()).await?;
        self.inventory_faults(FaultPlan::default()).await?;
        self.account_faults(FaultPlan::default()).await?;
        self.mail_faults(FaultPlan::default()).await?;
        for name in [
            "paymentCb",
            "paymentServiceCb",
            "inventoryCb",
            "paymentQueryCb",
            "accountAccess",
            "accountRead",
            "mailCb",
        ] {
            self.breaker(name).reset();
        }
        self.queries().reset();
        self.entrance_is_free().await
    }

    /// Waits until the entrance lets a full second's worth of orders through again.
    pub(super) async fn entrance_is_free(&self) -> Result<(), DemoError> {
        let entrance = self.entrance();
        let limit = i64::from(entrance.config().limit_for_period());
        until("the entrance is free", || entrance.available_permissions() >= limit).await
    }

    /// Waits until the entrance begins a new second. Returns which one it is.
    pub(super) async fn next_second(&self) -> Result<u64, DemoError> {
        let entrance = self.entrance();
        let now = entrance.metrics().cycle;
        until("the entrance begins a second", || entrance.metrics().cycle > now).await?;
        Ok(entrance.metrics().cycle)
    }

    pub(super) async fn provider_faults(&self, plan: FaultPlan) -> Result<(), DemoError> {
        self.faults(&self.system.provider.url(), plan).await
    }

    pub(super) async fn inventory_faults(&self, plan: FaultPlan) -> Result<(), DemoError> {
        self.faults(&self.system.inventory.url(), plan).await
    }

    pub(super) async fn account_faults(&self, plan: FaultPlan) -> Result<(), DemoError> {
        self.faults(&self.system.account.url(), plan).await
    }

    pub(super) async fn mail_faults(&self, plan: FaultPlan) -> Result<(), DemoError> {
        self.faults(&self.system.mail.url(), plan).await
    }

    /// Gives a user the role that lets him in, or takes it away.
    pub(super) async fn service_role(&self, user: i64, has_it: bool) -> Result<(), DemoError> {
        let url = format!("{}/users/{user}", self.system.account.url());
        answer(self.traffic.put(url, &json!({ "has_service_role": has_it }))).await?;
        Ok(())
    }

    pub(super) async fn clear(self) -> Result<(), DemoError> {
        Ok(self.system.stop().await?)
    }

    /// Lets the provider report its decisions so much later, or never.
    pub(super) async fn webhooks(&self, delay_ms: Option<u64>) -> Result<(), DemoError> {
        let url = format!("{}/webhooks", self.system.provider.url());
        answer(self.traffic.put(url, &json!({ "delay_ms": delay_ms }))).await?;
        Ok(())
    }

    /// Lets the provider report all its decisions once more.
    pub(super) async fn report_again(&self) -> Result<(), DemoError> {
        answer(self.traffic.post(format!("{}/webhooks", self.system.provider.url()))).await?;
        Ok(())
    }

    /// The provider's ledger.
    pub(super) async fn charges(&self) -> Result<Vec<Charge>, DemoError> {
        #[derive(Deserialize)]
        struct Page {
            charges: Vec<Charge>,
        }
        let ledger = answer(self.traffic.get(format!("{}/ledger", self.system.provider.url())));
        Ok(serde_json::from_value::<Page>(ledger.await?.body)?.charges)
    }

    /// How many questions about the roles of users have arrived at the account service.
    pub(super) async fn roles_asked_for(&self) -> Result<u64, DemoError> {
        let questions = self.traffic.get(format!("{}/questions", self.system.account.url()));
        Ok(answer(questions).await?.body["roles"].as_u64().unwrap_or_default())
    }

    async fn faults(&self, base: &str, plan: FaultPlan) -> Result<(), DemoError> {
        answer(self.traffic.put(format!("{base}/faults"), &json!(plan))).await?;
        Ok(())
    }

    /// Takes note of what the library says about a breaker.
    pub(super) fn breaker_metrics(&self, report: &mut SceneReport, name: &str) {
        Self::metrics_of(report, name, &self.breaker(name));
        report.prometheus(self.lines("resilience4j_circuitbreaker", name));
    }

    /// Takes note of how calls through a time limiter have ended since the demo began.
    pub(super) fn time_limiter_metrics(&self, report: &mut SceneReport, name: &str) {
        let metrics = self.registry.time_limiter(name).metrics();
        report.metric(&format!("{name}.successful"), metrics.successful);
        report.metric(&format!("{name}.timeout"), metrics.timeout);
        report.prometheus(self.lines("resilience4j_timelimiter", name));
    }

    /// Takes note of the slots of a bulkhead now, and of the calls since the demo began.
    pub(super) fn bulkhead_metrics(&self, report: &mut SceneReport, name: &str) {
        let metrics = self.registry.bulkhead(name).metrics();
        report.metric(&format!("{name}.available"), metrics.available_concurrent_calls);
        report.metric(&format!("{name}.permitted"), metrics.permitted);
        report.metric(&format!("{name}.rejected"), metrics.rejected);
        report.metric(&format!("{name}.cancelled"), metrics.cancelled);
        report.prometheus(self.lines("resilience4j_bulkhead", name));
    }

    /// What the library's own text says about one instance, without the many lines of histograms.
    pub(super) fn lines(&self, pattern: &str, name: &str) -> Vec<String> {
        let label = format!("name=\"{name}\"");
        let page = self.registry.prometheus();
        let lines = page.lines().filter(|line| line.starts_with(pattern) && line.contains(&label));
        lines.filter(|line| !line.contains("_seconds")).map(str::to_owned).collect()
    }

    /// The same for a breaker that is not named by its name alone.
    pub(super) fn metrics_of(report: &mut SceneReport, name: &str, breaker: &CircuitBreaker) {
        let metrics = breaker.metrics();
        report.metric(&format!("{name}.state"), breaker.state().to_string());
        report.metric(&format!("{name}.failure_rate"), metrics.failure_rate);
        report.metric(&format!("{name}.buffered_calls"), metrics.buffered_calls);
        report.metric(&format!("{name}.failed_calls"), metrics.failed_calls);
        report.metric(&format!("{name}.not_permitted_calls"), metrics.not_permitted_calls);
    }
}

/// As everywhere, only sooner: nobody watches for a minute.
fn settling() -> Settling {
    // Random, and known to nobody: all who need it are in this process.
    let secret = Secret::new(IdempotencyKey::random().to_string()).ok();
    Settling { secret, every: Duration::from_millis(500), ..Settling::default() }
}

/// As everywhere, only that nobody waits long for an outage to show.
fn lifetimes() -> Lifetimes {
    Lifetimes { version: VERSION_LIFETIME, ..Lifetimes::default() }
}

/// Looks again and again until something is so.
pub(super) async fn until(
    what: &'static str,
    mut is_so: impl FnMut() -> bool,
) -> Result<(), DemoError> {
    let start = Instant::now();
    while !is_so() {
        if start.elapsed() > PATIENCE {
            return Err(DemoError::Waited(what));
        }
        tokio::time::sleep(GLANCE).await;
    }
    Ok(())
}
