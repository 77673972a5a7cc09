//! Refusals as gRPC responses.

use http::{
    HeaderValue, Response,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use tower_layer::Layer;

use super::{Refuse, Refusing};
use crate::{Error, Outcome, sealed::Sealed};

const GRPC_STATUS: &str = "grpc-status";
const GRPC_MESSAGE: &str = "grpc-message";

/// Turns refusals of the layers below into gRPC responses; errors of the service stay errors.
///
/// It works on both sides: a server's client reads the status, and a generated client over a
/// channel behind this layer returns it. The status is [`Error::grpc_code`] in a response of headers
/// alone ("trailers-only"), with the metadata `retry-after` (seconds) and `grpc-retry-pushback-ms`
/// where the time is known.
///
/// # Examples
///
/// ```
/// use http::{Request, Response};
/// use resilience::{Bulkhead, BulkheadConfig, tower::{BulkheadLayer, RefusalsToGrpc}};
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let closed = BulkheadConfig::builder().max_concurrent_calls(0).build()?;
/// let service = ServiceBuilder::new()
///     .layer(RefusalsToGrpc)
///     .layer(BulkheadLayer::new(Bulkhead::new("search", closed)))
///     .service(service_fn(|_: Request<()>| async {
///         Ok::<_, std::convert::Infallible>(Response::new(String::new()))
///     }));
/// let refused = service.oneshot(Request::new(())).await?;
/// assert_eq!(refused.status(), 200);
/// assert_eq!(refused.headers()["grpc-status"], "14");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct RefusalsToGrpc;

impl<S> Layer<S> for RefusalsToGrpc {
    type Service = Refusing<S, Self>;

    fn layer(&self, inner: S) -> Self::Service {
        Refusing::new(inner)
    }
}

impl<B: Default> Sealed<Response<B>> for RefusalsToGrpc {}

#[diagnostic::do_not_recommend]
impl<B: Default> Refuse<Response<B>> for RefusalsToGrpc {
    fn response(refusal: &Error) -> Response<B> {
        grpc_response(refusal)
    }
}

/// The response that tells a gRPC client of a refusal; see [`RefusalsToGrpc`].
///
/// # Examples
///
/// ```
/// # fn refuse(refusal: &resilience::Error) {
/// let response: http::Response<String> = resilience::tower::grpc_response(refusal);
/// assert_eq!(response.headers()["grpc-status"], refusal.grpc_code().to_string());
/// # }
/// # let closed = resilience::BulkheadConfig::builder().max_concurrent_calls(0).build().unwrap();
/// # refuse(&resilience::Bulkhead::new("b", closed).try_acquire().unwrap_err().into());
/// ```
pub fn grpc_response<B: Default>(refusal: &Error) -> Response<B> {
    let mut response = Response::new(B::default());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(GRPC_STATUS, refusal.grpc_code().into());
    headers.insert(GRPC_MESSAGE, HeaderValue::from_static(refusal.public_text()));
    if let Some(seconds) = refusal.retry_after_seconds() {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    if let Some(millis) = refusal.pushback_millis() {
        headers.insert("grpc-retry-pushback-ms", millis.into());
    }
    response
}

/// For `classify`: a response whose head says `UNKNOWN`, `DEADLINE_EXCEEDED`,
/// `RESOURCE_EXHAUSTED`, INTERNAL, UNAVAILABLE or `DATA_LOSS` is a failure, and one of HTTP status
/// 500 or more.
///
/// The head has the status of a response without messages, as servers send it when a unary method
/// fails. That of a stream which breaks off comes at its end, which no layer sees.
pub fn grpc_outcome<B>(response: &Response<B>) -> Outcome {
    let status = response.headers().get(GRPC_STATUS).map(HeaderValue::as_bytes);
    match status {
        Some(b"2" | b"4" | b"8" | b"13" | b"14" | b"15") => Outcome::Failure,
        _ => super::http_outcome(response),
    }
}
