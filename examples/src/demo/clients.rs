use reqwest::RequestBuilder;
use tokio::task::JoinSet;

use super::{
    DemoError,
    stage::Stage,
    traffic::{Answer, answer},
};

/// Somebody who orders, and the key by which he can come back to the same order.
#[derive(Debug, Clone)]
pub(super) struct Customer {
    user: i64,
    key: String,
}

impl Customer {
    pub(super) fn some(stage: &Stage, number: usize) -> Vec<Self> {
        let new = || Self {
            user: stage.traffic.new_user(),
            key: format!("demo-{:032x}", fastrand::u128(..)),
        };
        std::iter::repeat_with(new).take(number).collect()
    }

    /// His order; however often he sends it, it is the same one.
    pub(super) fn order(&self, stage: &Stage) -> RequestBuilder {
        stage.traffic.keyed_order(&stage.system.order.url(), self.user, &self.key)
    }
}

/// Requests that have been sent and are waited for; dropping this hangs up as well.
#[derive(Debug)]
pub(super) struct Clients(JoinSet<Result<Answer, DemoError>>);

impl Clients {
    /// Lets each of these customers send his order.
    pub(super) fn of(stage: &Stage, customers: &[Customer]) -> Self {
        Self(customers.iter().map(|customer| answer(customer.order(stage))).collect())
    }

    /// Waits for every answer, whatever it is.
    pub(super) async fn stay(mut self) {
        while self.0.join_next().await.is_some() {}
    }

    /// Hangs up: the connections are closed. Returns how many had got no answer by then.
    pub(super) async fn hang_up(mut self) -> usize {
        self.0.abort_all();
        let mut hung_up = 0;
        while let Some(ended) = self.0.join_next().await {
            hung_up += usize::from(ended.is_err_and(|error| error.is_cancelled()));
        }
        hung_up
    }
}
