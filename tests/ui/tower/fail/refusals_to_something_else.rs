// wrong: ServiceBuilder::new().layer(RefusalsToHttp).layer(layer).service(store)
// instead: put it around a service that answers `http::Response<B>`

use std::convert::Infallible;

use resilience::{
    Stack,
    tower::{RefusalsToHttp, StackLayer},
};
use tower::{Service, ServiceBuilder, service_fn};

/// As axum's `Router::layer` and others bound what they are given.
fn serve(_service: impl Service<u32>) {}

fn main() {
    let store = service_fn(async |_: u32| Ok::<_, Infallible>("stored"));
    let layer = StackLayer::new(Stack::builder().build());
    serve(ServiceBuilder::new().layer(RefusalsToHttp).layer(layer).service(store));
}
