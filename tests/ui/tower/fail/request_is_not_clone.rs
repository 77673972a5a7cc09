// wrong: StackLayer::new(Stack::builder().build()).layer(store)
// instead: `.clone_request(|_: &Upload| None)`

use std::convert::Infallible;

use resilience::{Stack, tower::StackLayer};
use tower::{Layer, Service, service_fn};

struct Upload;

/// As axum's `Router::layer` and others bound what they are given.
fn serve(_service: impl Service<Upload>) {}

fn main() {
    let store = service_fn(async |_: Upload| Ok::<_, Infallible>(()));
    serve(StackLayer::new(Stack::builder().build()).layer(store));
}
