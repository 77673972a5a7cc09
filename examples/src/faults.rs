//! Faults of the simulated services, switched at run time by `PUT /faults`.

use std::{io, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::put,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::web::{ApiError, Json};

const LONGEST_DELAY_MS: u64 = 60_000;

/// How a simulated service misbehaves; all zero is a healthy one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultPlan {
    /// How long an answer is held back after the work is done, in milliseconds up to 60 000.
    pub delay_ms: u64,
    /// The share of requests, 0 to 1, that fail with 500 before any work is done.
    pub error_rate: f64,
    /// The share of requests, 0 to 1, whose work is done and whose answer breaks off.
    pub drop_rate: f64,
}

/// The current faults of one service; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<FaultPlan>>);

impl FaultPlan {
    /// None of them.
    pub const HEALTHY: Self = Self { delay_ms: 0, error_rate: 0.0, drop_rate: 0.0 };

    fn check(self) -> Result<Self, ApiError> {
        let rate = 0.0..=1.0;
        if self.delay_ms > LONGEST_DELAY_MS {
            let message = format!("delay_ms = {}: expected 0 to {LONGEST_DELAY_MS}", self.delay_ms);
            return Err(ApiError::bad_request("BAD_FAULTS", message));
        }
        for (name, value) in [("error_rate", self.error_rate), ("drop_rate", self.drop_rate)] {
            if !rate.contains(&value) {
                let message = format!("{name} = {value}: expected 0 to 1");
                return Err(ApiError::bad_request("BAD_FAULTS", message));
            }
        }
        Ok(self)
    }
}

impl Faults {
    /// Adds these faults to every route of `business`, and the switch `PUT /faults` beside them.
    pub fn around(&self, business: Router) -> Router {
        let switch = Router::new().route("/faults", put(switch)).with_state(self.clone());
        business.route_layer(middleware::from_fn_with_state(self.clone(), misbehave)).merge(switch)
    }

    fn plan(&self) -> FaultPlan {
        *self.0.lock()
    }
}

async fn switch(
    State(faults): State<Faults>,
    Json(plan): Json<FaultPlan>,
) -> Result<Json<FaultPlan>, ApiError> {
    let plan = plan.check()?;
    *faults.0.lock() = plan;
    Ok(Json(plan))
}

/// Delays and drops come after the work: the nastiest fault of a payment provider is not that it
/// does nothing, but that it charges and nobody hears of it.
async fn misbehave(State(faults): State<Faults>, request: Request, next: Next) -> Response {
    let plan = faults.plan();
    if happens(plan.error_rate) {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        return ApiError::new(status, "SIMULATED_FAILURE", "a switched-on fault").into_response();
    }
    let response = next.run(request).await;
    tokio::time::sleep(Duration::from_millis(plan.delay_ms)).await;
    if happens(plan.drop_rate) {
        return broken_off();
    }
    response
}

fn happens(rate: f64) -> bool {
    // `f64()` is below 1, so that 1 always happens and 0 never.
    fastrand::f64() < rate
}

/// A response whose body fails at once, which makes the server close the connection.
fn broken_off() -> Response {
    let failure = io::Error::new(io::ErrorKind::ConnectionAborted, "a switched-on fault");
    Response::new(Body::from_stream(Failing(Some(failure))))
}

/// A body stream that is nothing but one error.
struct Failing(Option<io::Error>);

impl futures_core::Stream for Failing {
    type Item = Result<axum::body::Bytes, io::Error>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready(self.0.take().map(Err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_outside_the_ranges_is_refused() {
        let plans = [
            FaultPlan { delay_ms: 60_001, ..FaultPlan::default() },
            FaultPlan { error_rate: -0.1, ..FaultPlan::default() },
            FaultPlan { drop_rate: 1.5, ..FaultPlan::default() },
            FaultPlan { drop_rate: f64::NAN, ..FaultPlan::default() },
        ];
        for plan in plans {
            assert!(plan.check().is_err(), "{plan:?}");
        }
    }

    #[test]
    fn a_fault_of_rate_one_always_happens_and_one_of_rate_zero_never() {
        assert!((0..1_000).all(|_| happens(1.0)));
        assert!(!(0..1_000).any(|_| happens(0.0)));
    }
}
