//! What goes on after the scenes for those who watch: orders all the time, troubles now and then.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{DemoError, stage::Stage, traffic::answer};
use crate::faults::FaultPlan;

/// What is ordered, over and over: sku and amount. The last two are declined and out of stock, which
/// no breaker may take for a failure.
const ORDERS: [(&str, i64); 8] = [
    ("book", 12_000),
    ("lamp", 30_000),
    ("book", 12_000),
    ("book", 12_000),
    ("lamp", 30_000),
    ("book", 12_000),
    ("lamp", 1_500_000),
    ("unicorn", 12_000),
];

const FAILING: FaultPlan = FaultPlan { error_rate: 1.0, ..FaultPlan::HEALTHY };

/// Long enough for every breaker to have closed again, and for a look at it.
const CALM: Act = Act {
    title: "all is well",
    lasts: Duration::from_secs(12),
    pace: Duration::from_millis(250),
    provider: FaultPlan::HEALTHY,
    inventory: FaultPlan::HEALTHY,
    account: FaultPlan::HEALTHY,
    mail: FaultPlan::HEALTHY,
};

/// Longer than a breaker stays open, so that its first probes find the trouble still there.
const TROUBLE: Act = Act { lasts: Duration::from_secs(8), ..CALM };

/// Each is followed by a calm. Nothing in them is left to chance: every round shows the same.
const TROUBLES: [Act; 7] = [
    Act { title: "the payment provider fails", provider: FAILING, ..TROUBLE },
    Act {
        title: "the inventory takes 3 s",
        inventory: FaultPlan { delay_ms: 3_000, ..FaultPlan::HEALTHY },
        ..TROUBLE
    },
    Act {
        title: "the payment provider takes 5 s",
        provider: FaultPlan { delay_ms: 5_000, ..FaultPlan::HEALTHY },
        ..TROUBLE
    },
    Act { title: "the inventory fails", inventory: FAILING, ..TROUBLE },
    Act { title: "the account service fails", account: FAILING, ..TROUBLE },
    Act {
        title: "the mail service hangs",
        mail: FaultPlan { delay_ms: 60_000, ..FaultPlan::HEALTHY },
        ..TROUBLE
    },
    Act { title: "a rush of orders", pace: Duration::from_millis(70), ..TROUBLE },
];

/// Faults, and orders at a steady pace, for a while.
#[derive(Debug)]
pub(super) struct Act {
    title: &'static str,
    lasts: Duration,
    /// The time from one order to the next.
    pace: Duration,
    provider: FaultPlan,
    inventory: FaultPlan,
    account: FaultPlan,
    mail: FaultPlan,
}

/// Every trouble and the calm after it, without an end.
pub(super) fn acts() -> impl Iterator<Item = &'static Act> {
    TROUBLES.iter().flat_map(|trouble| [trouble, &CALM]).cycle()
}

/// Plays the acts, one after the other.
///
/// # Errors
///
/// If the faults cannot be set. What becomes of an order is for those who watch.
///
/// # Cancel safety
///
/// Dropping the future takes the customers away; the faults stay.
pub(super) async fn play(stage: &Stage, acts: impl Iterator<Item = &Act>) -> Result<(), DemoError> {
    let base = stage.system.order.url();
    let mut orders = ORDERS.iter().cycle();
    let mut customers = JoinSet::new();
    for act in acts {
        stage.provider_faults(act.provider).await?;
        stage.inventory_faults(act.inventory).await?;
        stage.account_faults(act.account).await?;
        stage.mail_faults(act.mail).await?;
        eprintln!("For {} s: {}", act.lasts.as_secs(), act.title);
        let start = Instant::now();
        let mut pace = tokio::time::interval(act.pace);
        while start.elapsed() < act.lasts {
            pace.tick().await;
            if let Some((sku, amount)) = orders.next() {
                // Nobody waits for the one before: a slow answer must not slow down the next order.
                customers.spawn(answer(stage.traffic.order_of(&base, sku, *amount)));
            }
            while customers.try_join_next().is_some() {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use resilience::{
        Resilience,
        circuit_breaker::{CircuitBreakerEventKind, State},
    };

    use super::*;
    use crate::{demo::stage::until, settings};

    #[tokio::test]
    async fn a_breaker_opens_in_a_trouble_is_probed_and_closes_in_the_calm_after_it() {
        let config = settings::loader(None)
            .env(false)
            .set("circuitbreaker.configs.default.wait_duration_in_open_state", "50ms")
            .set("ratelimiter.instances.orderRl.limit_for_period", "1000");
        let registry = Resilience::from_config(config.load().unwrap()).unwrap();
        let breaker = registry.circuit_breaker("paymentCb");
        let (sender, states) = mpsc::channel();
        let _subscription = breaker.events().subscribe(move |event| {
            if let CircuitBreakerEventKind::StateTransition { to, .. } = event.kind {
                let _ = sender.send(to);
            }
        });
        let stage = Stage::set(registry).await.unwrap();
        let short = Duration::from_millis(500);
        let acts = [&TROUBLES[0], &CALM].map(|act| Act {
            lasts: short,
            pace: Duration::from_millis(20),
            ..*act
        });

        let mut seen = Vec::new();
        let closed = until("the breaker has closed again", || {
            seen.extend(states.try_iter());
            seen.last() == Some(&State::Closed)
        });
        tokio::select! {
            closed = closed => closed.unwrap(),
            played = play(&stage, acts.iter().cycle()) => played.unwrap(),
        }
        assert!(seen.starts_with(&[State::Open, State::HalfOpen]), "{seen:?}");
    }
}
