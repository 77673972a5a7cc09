use tower_layer::Layer;

use super::{
    ByClone, NoRules, StackService, by_name::constructors, clone_request::repeating,
    to_rules::judging,
};
use crate::{Retry, Stack};

/// Sends a request again when it failed, after a wait.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::{Outcome, Retry, RetryConfig, tower::RetryLayer};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = RetryConfig::builder().wait_duration(Duration::from_millis(1)).build()?;
/// let retry = Retry::new("stock", config);
/// let layer = RetryLayer::new(retry.clone())
///     .classify(|status: &u16| if *status < 500 { Outcome::Success } else { Outcome::Failure });
/// let stock = layer.layer(service_fn(|_: &'static str| async { Ok::<_, std::io::Error>(503) }));
/// assert_eq!(stock.oneshot("pencils").await?, 503);
/// assert_eq!(retry.metrics().failed_with_retry, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RetryLayer<C = NoRules, K = ByClone> {
    instance: Retry,
    rules: C,
    copy: K,
}

impl RetryLayer {
    constructors!(Retry, "a retry"; rules: NoRules, copy: ByClone);
}

impl<C, K> RetryLayer<C, K> {
    judging!(RetryLayer<K>; instance, copy);
    repeating!(RetryLayer; instance, rules);
}

impl<S, C: Clone, K: Clone> Layer<S> for RetryLayer<C, K> {
    type Service = StackService<S, C, K>;

    fn layer(&self, inner: S) -> Self::Service {
        let stack = Stack::builder().retry(self.instance.clone()).build();
        StackService::new(inner, stack, self.rules.clone(), self.copy.clone())
    }
}
