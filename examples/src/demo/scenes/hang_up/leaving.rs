use std::time::{Duration, Instant};

use resilience::circuit_breaker::State;

use super::{
    AS_PROBES, AT_THE_INVENTORY, IN_THE_GATE, IN_THE_QUEUE, WHILE_PAYING, aftermath::References,
};
use crate::{
    demo::{
        DemoError,
        clients::{Clients, Customer},
        gauges::Gauge,
        measurement::{Number, Sample},
        progress::Progress,
        stage::{GLANCE, Stage, until},
        traffic::{Answer, answer},
    },
    faults::FaultPlan,
};

/// Longer than any customer stays, also on a busy machine.
const HANGS: FaultPlan = FaultPlan { delay_ms: 30_000, ..FaultPlan::HEALTHY };
/// Shorter than the time limit of a payment, which is carried through.
const SLOW: FaultPlan = FaultPlan { delay_ms: 1_000, ..FaultPlan::HEALTHY };
const PATIENCE: Duration = Duration::from_secs(10);
/// How often customers queue until all of them wait at once.
const TRIES: u32 = 5;

/// The customers who hang up, and what the gauges said before and after it.
pub(super) struct Leaving<'a> {
    stage: &'a Stage,
    /// Where each of them was.
    pub(super) points: Vec<&'static str>,
    /// What was taken while they waited.
    pub(super) busy: Vec<Number>,
    /// What every gauge said when all were idle again, each time.
    pub(super) idle: Vec<Sample>,
    pub(super) idle_after: Vec<Duration>,
    /// What the fourth got while three probes were under way.
    pub(super) beside_probes: Vec<Answer>,
}

impl<'a> Leaving<'a> {
    pub(super) fn new(stage: &'a Stage) -> Self {
        Self {
            stage,
            points: Vec::new(),
            busy: Vec::new(),
            idle: Vec::new(),
            idle_after: Vec::new(),
            beside_probes: Vec::new(),
        }
    }

    /// While it is asked whether they may order.
    pub(super) async fn in_the_gate(
        &mut self,
        progress: &Progress,
    ) -> Result<Vec<Customer>, DemoError> {
        let stage = self.stage;
        stage.account_faults(HANGS).await?;
        let before = stage.roles_asked_for().await?;
        let customers = Customer::some(stage, IN_THE_GATE);
        let clients = Clients::of(stage, &customers);
        let start = Instant::now();
        while stage.roles_asked_for().await? < before + IN_THE_GATE as u64 {
            if start.elapsed() > PATIENCE {
                return Err(DemoError::Waited("the account service is asked about all customers"));
            }
            tokio::time::sleep(GLANCE).await;
        }
        self.hang_up("in the gate", clients, progress).await;
        self.idle().await?;
        stage.account_faults(FaultPlan::HEALTHY).await?;
        Ok(customers)
    }

    /// While the inventory hangs, and while others wait for a slot to ask it.
    pub(super) async fn at_the_inventory(
        &mut self,
        progress: &Progress,
    ) -> Result<(Vec<Customer>, Vec<Customer>), DemoError> {
        let stage = self.stage;
        stage.inventory_faults(HANGS).await?;
        let asking = Customer::some(stage, AT_THE_INVENTORY);
        let clients = Clients::of(stage, &asking);
        until("ten calls hang", || stage.gauge("slots of inventoryBh") == 10).await?;
        self.busy.push(Number::once("slots taken", stage.gauge("slots of inventoryBh")));
        let queued = self.in_the_queue(progress).await?;
        self.hang_up("at the inventory", clients, progress).await;
        self.idle().await?;
        Ok((asking, queued))
    }

    /// While they wait for a slot to ask the inventory, which they do for 50 ms and no longer: on a busy
    /// machine the first is refused before the last is there. Then it is tried again with others.
    async fn in_the_queue(&mut self, progress: &Progress) -> Result<Vec<Customer>, DemoError> {
        let (stage, slots) = (self.stage, self.stage.inventory_slots());
        let mut tries = 0;
        loop {
            stage.entrance_is_free().await?;
            let customers = Customer::some(stage, IN_THE_QUEUE);
            let rejected = slots.metrics().rejected;
            let clients = Clients::of(stage, &customers);
            let mut waiting = 0;
            until("customers wait for a slot", || {
                waiting = waiting.max(slots.waiting());
                waiting == IN_THE_QUEUE as u64 || slots.metrics().rejected > rejected
            })
            .await?;
            tries += 1;
            if slots.metrics().rejected == rejected || tries == TRIES {
                self.busy.push(Number::once("waiting", waiting));
                self.hang_up("in the queue", clients, progress).await;
                return Ok(customers);
            }
            clients.stay().await;
        }
    }

    /// While they are the probes of a breaker that is half-open, whose callee still hangs.
    pub(super) async fn as_probes(
        &mut self,
        progress: &Progress,
    ) -> Result<Vec<Customer>, DemoError> {
        let stage = self.stage;
        let breaker = stage.breaker("inventoryCb");
        for state in [State::Open, State::HalfOpen] {
            breaker
                .transition_to(state)
                .map_err(|_| DemoError::Waited("a breaker is half-open"))?;
        }
        let probes = Customer::some(stage, AS_PROBES);
        let clients = Clients::of(stage, &probes);
        until("all probes are under way", || stage.gauge("slots of inventoryBh") == 3).await?;
        self.beside_probes = vec![answer(stage.traffic.order(&stage.system.order.url())).await?];
        self.hang_up("as probes", clients, progress).await;
        self.idle().await?;
        stage.inventory_faults(FaultPlan::HEALTHY).await?;
        Ok(probes)
    }

    /// While the provider, which has the charges already, takes its time. Returns the charges.
    pub(super) async fn while_paying(
        &mut self,
        progress: &Progress,
    ) -> Result<Vec<String>, DemoError> {
        let stage = self.stage;
        stage.provider_faults(SLOW).await?;
        let before = References::of(&stage.charges().await?);
        let clients = Clients::of(stage, &Customer::some(stage, WHILE_PAYING));
        let start = Instant::now();
        let paying = loop {
            let new = before.added_by(&stage.charges().await?);
            if new.len() == WHILE_PAYING {
                break new;
            }
            if start.elapsed() > PATIENCE {
                return Err(DemoError::Waited("the provider has all charges"));
            }
            tokio::time::sleep(GLANCE).await;
        };
        self.hang_up("while paying", clients, progress).await;
        self.idle().await?;
        stage.provider_faults(FaultPlan::HEALTHY).await?;
        Ok(paying)
    }

    async fn hang_up(&mut self, point: &'static str, clients: Clients, progress: &Progress) {
        for _ in 0..clients.hang_up().await {
            self.points.push(point);
            progress.step();
        }
    }

    /// Waits until nothing is under way.
    async fn idle(&mut self) -> Result<(), DemoError> {
        let start = Instant::now();
        let gauges = loop {
            let gauges = self.stage.gauges();
            let busy: Vec<_> = gauges.iter().filter(|gauge| gauge.taken > 0).collect();
            if busy.is_empty() {
                break gauges;
            }
            if start.elapsed() > PATIENCE {
                let busy = busy.iter().map(|gauge| format!("{}: {}", gauge.name, gauge.taken));
                return Err(DemoError::Busy(busy.collect::<Vec<_>>().join(", ")));
            }
            tokio::time::sleep(GLANCE).await;
        };
        self.idle_after.push(start.elapsed());
        self.idle.extend(gauges.iter().map(Gauge::sample));
        Ok(())
    }
}
