//! Refusals as HTTP responses.

use http::{Response, StatusCode};
use tower_layer::Layer;

use super::{Refuse, Refusing};
use crate::{Error, Outcome, sealed::Sealed};

/// Turns refusals of the layers below into responses; errors of the service stay errors.
///
/// The status is [`Error::http_status`], `Retry-After` is [`Error::retry_after_seconds`] where that
/// is known, and the body is one line of text without any name.
///
/// # With axum
///
/// `Router::layer` takes nothing that can fail, and each call of it applies one layer: there a layer
/// that refuses does not compile alone, and this one has nothing to turn. Both go into one
/// `ServiceBuilder`, this one first: around handlers, which do not fail, nothing is left that could.
///
/// ```
/// use axum::{Router, routing::get};
/// use resilience::{
///     Bulkhead, BulkheadConfig,
///     tower::{BulkheadLayer, RefusalsToHttp},
/// };
/// use tower::ServiceBuilder;
///
/// let bulkhead = Bulkhead::new("shop", BulkheadConfig::default());
/// let protection = ServiceBuilder::new().layer(RefusalsToHttp).layer(BulkheadLayer::new(bulkhead));
/// let app: Router = Router::new().route("/stock", get(async || "7 pencils")).layer(protection);
/// # let _ = app;
/// ```
///
/// The [module](super) has an example without axum.
#[derive(Debug, Clone, Copy, Default)]
pub struct RefusalsToHttp;

impl<S> Layer<S> for RefusalsToHttp {
    type Service = Refusing<S, Self>;

    fn layer(&self, inner: S) -> Self::Service {
        Refusing::new(inner)
    }
}

impl<B: From<&'static str>> Sealed<Response<B>> for RefusalsToHttp {}

#[diagnostic::do_not_recommend]
impl<B: From<&'static str>> Refuse<Response<B>> for RefusalsToHttp {
    fn response(refusal: &Error) -> Response<B> {
        http_response(refusal)
    }
}

/// The response that tells a client of a refusal; see [`RefusalsToHttp`].
///
/// # Examples
///
/// ```
/// # fn refuse(refusal: &resilience::Error) {
/// let response: http::Response<String> = resilience::tower::http_response(refusal);
/// assert_eq!(response.status(), refusal.http_status());
/// # }
/// # let bulkhead = resilience::Bulkhead::new("b", resilience::BulkheadConfig::builder().max_concurrent_calls(0).build().unwrap());
/// # refuse(&bulkhead.try_acquire().unwrap_err().into());
/// ```
pub fn http_response<B: From<&'static str>>(refusal: &Error) -> Response<B> {
    crate::http_response::of(refusal)
}

/// For `classify`: a response with a status of 500 or more is a failure.
pub fn http_outcome<B>(response: &Response<B>) -> Outcome {
    by_status(response.status())
}

/// For `classify` around a reqwest client, whose responses are of a type of their own: a status of 500
/// or more is a failure.
///
/// # Examples
///
/// ```
/// use resilience::tower::{StackLayer, reqwest_outcome};
/// use tower::{Service, ServiceBuilder};
///
/// # fn is_a_service(_: impl Service<reqwest::Request>) {}
/// # let registry = resilience::global();
/// # registry.retry("stock");
/// let layer = StackLayer::from_registry(&registry, "stock")
///     .kinds() // so that lists such as `retry_errors: [connect, timeout]` find them
///     .classify(reqwest_outcome)
///     .clone_request(|request: &reqwest::Request| request.try_clone());
/// let client = ServiceBuilder::new().layer(layer).service(reqwest::Client::new());
/// # is_a_service(client);
/// ```
#[cfg(feature = "reqwest")]
pub fn reqwest_outcome(response: &reqwest::Response) -> Outcome {
    by_status(response.status())
}

fn by_status(status: StatusCode) -> Outcome {
    if status.is_server_error() { Outcome::Failure } else { Outcome::Success }
}
