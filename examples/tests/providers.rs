//! Several providers: who is asked, in which order, and who never is.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::time::Duration;

use examples::{
    assembly::{self, ProviderUrls, Settling},
    faults::FaultPlan,
    peer::BaseUrl,
    pg::WebhookPlan,
    web::Server,
};
use resilience::circuit_breaker::State;
use serde_json::{Value, json};
use support::{Answer, World, charged_once, until};

const DROPS: FaultPlan = FaultPlan { delay_ms: 0, error_rate: 0.0, drop_rate: 1.0 };
const OFTEN: Settling = Settling {
    secret: None,
    every: Duration::from_millis(20),
    abandoned_after: Duration::from_secs(10),
    withdraw_after: Duration::from_mins(10),
};

/// Three providers and a payment service that asks them.
struct Three {
    world: World,
    providers: [Server; 3],
    payment: Server,
    _directory: tempfile::TempDir,
}

impl Three {
    async fn start() -> Self {
        let world = World::start(&[]).await;
        let nobody = support::refusing_url();
        let provider = async || {
            let plan = WebhookPlan::default();
            let app = assembly::provider(&world.registry, &nobody, None, plan).unwrap();
            Server::start(0, app).await.unwrap()
        };
        let providers = [provider().await, provider().await, provider().await];
        let [a, b, c] = [0, 1, 2].map(|index: usize| providers[index].base_url());
        let (payment, directory) = payment(&world, a, Some(b), Some(c)).await;
        Self { world, providers, payment, _directory: directory }
    }

    async fn pay(&self, key: &str) -> Answer {
        pay(&self.world, &self.payment, key).await
    }

    async fn ledger(&self, provider: usize) -> Vec<Value> {
        let ledger = self.world.get(format!("{}/ledger", self.providers[provider].url())).await;
        ledger.body["charges"].as_array().unwrap().clone()
    }

    fn breakers(&self) -> [resilience::CircuitBreaker; 3] {
        let others = self.world.registry.circuit_breaker("otherProviderCb");
        [self.world.registry.circuit_breaker("paymentCb"), others.keyed("B"), others.keyed("C")]
    }
}

async fn payment(
    world: &World,
    provider_url: BaseUrl,
    second_provider_url: Option<BaseUrl>,
    third_provider_url: Option<BaseUrl>,
) -> (Server, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let urls = ProviderUrls { provider_url, second_provider_url, third_provider_url };
    let database = directory.path().join("payment.db");
    let app = assembly::payment(&world.registry, &database, &urls, &world.accounts(), &OFTEN)
        .await
        .unwrap();
    (Server::start(0, app).await.unwrap(), directory)
}

async fn pay(world: &World, payment: &Server, key: &str) -> Answer {
    world.pay_at(&payment.url(), key, &json!({ "order_id": "o", "amount": 100 })).await
}

#[tokio::test]
async fn each_provider_is_asked_only_when_those_before_it_cannot_be() {
    let three = Three::start().await;
    let breakers = three.breakers();
    for (number, name) in ["A", "B", "C"].into_iter().enumerate() {
        let paid = three.pay(name).await;
        assert_eq!((paid.status, &paid.body["status"]), (200, &json!("APPROVED")), "{paid:?}");
        assert_eq!(paid.body["provider"], name);
        for other in 0..3 {
            assert_eq!(three.ledger(other).await.len(), usize::from(other <= number), "{name}");
        }
        breakers[number].transition_to(State::ForcedOpen).unwrap();
    }
}

#[tokio::test]
async fn what_no_provider_can_be_asked_for_waits_in_the_queue_and_says_so_until_one_recovers() {
    let three = Three::start().await;
    let breakers = three.breakers();
    for breaker in &breakers {
        breaker.transition_to(State::ForcedOpen).unwrap();
    }
    for number in 0..10 {
        let queued = three.pay(&format!("k{number}")).await;
        assert_eq!((queued.status, &queued.body["status"]), (200, &json!("REQUESTED")));
        assert_eq!(queued.body["provider"], json!(null));
    }
    let again = three.pay("k0").await;
    assert_eq!((again.status, &again.body["status"]), (200, &json!("REQUESTED")), "{again:?}");

    breakers[1].transition_to(State::Closed).unwrap();
    for number in 0..10 {
        let payment = format!("{}/payments/k{number}", three.payment.url());
        until("the queue is drained", async || {
            three.world.get(payment.clone()).await.body["status"] == "APPROVED"
        })
        .await;
        assert_eq!(three.world.get(payment).await.body["provider"], "B");
    }
    charged_once(&three.ledger(1).await);
    assert!(three.ledger(0).await.is_empty() && three.ledger(2).await.is_empty());
}

#[tokio::test]
async fn a_provider_that_nobody_listens_for_gives_way_to_the_next() {
    let world = World::start(&[]).await;
    let alive = world.system.provider.base_url();
    let (payment, _directory) = payment(&world, support::refusing_url(), Some(alive), None).await;
    let paid = pay(&world, &payment, "k").await;
    assert_eq!((&paid.body["status"], &paid.body["provider"]), (&json!("APPROVED"), &json!("B")));
}

#[tokio::test]
async fn a_provider_that_may_have_charged_is_never_followed_by_another_one() {
    let three = Three::start().await;
    for fault in [DROPS, FaultPlan { error_rate: 1.0, ..FaultPlan::default() }] {
        let faults = format!("{}/faults", three.providers[0].url());
        three.world.put(faults, &json!(fault)).await;
        let key = format!("k{}", fault.error_rate);
        let unknown = three.pay(&key).await;
        assert_eq!(unknown.body["status"], "TIMEOUT", "{unknown:?}");
        // Its reconciler may ask A all the time, and must not ask anybody else, not even when A's
        // breaker is open.
        three.breakers()[0].transition_to(State::ForcedOpen).unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        three.breakers()[0].transition_to(State::Closed).unwrap();
        let payment = three.world.get(format!("{}/payments/{key}", three.payment.url())).await;
        assert_eq!((&payment.body["provider"], payment.status), (&json!("A"), 200));
    }
    assert!(three.ledger(1).await.is_empty() && three.ledger(2).await.is_empty());
    let faults = format!("{}/faults", three.providers[0].url());
    three.world.put(faults, &json!(FaultPlan::default())).await;
    for key in ["k0", "k1"] {
        let payment = format!("{}/payments/{key}", three.payment.url());
        until("A tells what became of it", async || {
            three.world.get(payment.clone()).await.body["status"] == "APPROVED"
        })
        .await;
    }
    charged_once(&three.ledger(0).await);
    assert!(three.ledger(1).await.is_empty() && three.ledger(2).await.is_empty());
}

#[tokio::test]
async fn a_breaker_that_opens_between_two_attempts_does_not_hand_the_payment_on() {
    // The first failure opens it; the retry is refused by it, and that refusal is the last error.
    let world = World::start(&[
        ("circuitbreaker.instances.paymentCb.sliding_window_size", "1"),
        ("circuitbreaker.instances.paymentCb.minimum_number_of_calls", "1"),
    ])
    .await;
    world.provider_faults(DROPS).await;
    let other = {
        let plan = WebhookPlan::default();
        let app =
            assembly::provider(&world.registry, &support::refusing_url(), None, plan).unwrap();
        Server::start(0, app).await.unwrap()
    };
    let (first, second) = (world.system.provider.base_url(), other.base_url());
    let (payment, _directory) = payment(&world, first, Some(second), None).await;
    let unknown = pay(&world, &payment, "k").await;
    assert_eq!(
        (&unknown.body["status"], &unknown.body["provider"]),
        (&json!("TIMEOUT"), &json!("A"))
    );
    assert_eq!(world.registry.circuit_breaker("paymentCb").state(), State::Open);
    let ledger = world.get(format!("{}/ledger", other.url())).await;
    assert_eq!(ledger.body["charges"], json!([]));
}

#[tokio::test]
async fn a_key_that_the_provider_knows_for_another_charge_is_422() {
    let world = World::start(&[]).await;
    let charges = format!("{}/charges", world.system.provider.url());
    let charge = async |reference: &str, amount: i64| {
        let body = json!({ "reference": reference, "amount": amount });
        world.keyed_post(&charges, "k", &body).await
    };
    assert_eq!(charge("r", 100).await.status, 200);
    for (reference, amount) in [("r", 200), ("s", 100)] {
        let reused = charge(reference, amount).await;
        assert_eq!((reused.status, &reused.body["error"]), (422, &json!("IDEMPOTENCY_KEY_REUSED")));
    }
    let kept = world.get(format!("{charges}/k")).await;
    assert_eq!((&kept.body["amount"], &kept.body["reference"]), (&json!(100), &json!("r")));
}
