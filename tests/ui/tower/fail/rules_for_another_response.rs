// wrong: layer.layer(store)
// instead: write `Rules::<&str, Infallible>::new()`

use std::convert::Infallible;

use resilience::{Rules, Stack, tower::StackLayer};
use tower::{Layer, Service, service_fn};

/// As axum's `Router::layer` and others bound what they are given.
fn serve(_service: impl Service<u32>) {}

fn main() {
    let store = service_fn(async |_: u32| Ok::<_, Infallible>("stored"));
    let layer = StackLayer::new(Stack::builder().build()).rules(Rules::<u64, Infallible>::new());
    serve(layer.layer(store));
}
