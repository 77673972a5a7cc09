//! Names of Java exception classes, as Resilience4j's lists hold them, and the kinds they are here.

/// Full class name and kind. A name without package is looked up by its last part.
const CLASSES: &[(&str, &str)] = &[
    ("io.github.resilience4j.bulkhead.BulkheadFullException", "bulkhead_full"),
    ("io.github.resilience4j.circuitbreaker.CallNotPermittedException", "call_not_permitted"),
    ("io.github.resilience4j.ratelimiter.RequestNotPermitted", "request_not_permitted"),
    ("io.github.resilience4j.retry.MaxRetriesExceededException", "max_retries_exceeded"),
    ("java.io.IOException", "io"),
    ("java.io.UncheckedIOException", "io"),
    ("java.net.ConnectException", "connect"),
    ("java.net.NoRouteToHostException", "connect"),
    ("java.net.UnknownHostException", "connect"),
    ("java.net.SocketException", "io"),
    ("java.net.SocketTimeoutException", "timeout"),
    ("java.net.http.HttpConnectTimeoutException", "timeout"),
    ("java.net.http.HttpTimeoutException", "timeout"),
    ("java.util.concurrent.TimeoutException", "timeout"),
    ("feign.FeignException$FeignClientException", "http_4xx"),
    ("feign.FeignException$FeignServerException", "http_5xx"),
    ("feign.RetryableException", "io"),
    ("io.netty.channel.ConnectTimeoutException", "timeout"),
    ("io.netty.handler.timeout.ReadTimeoutException", "timeout"),
    ("io.netty.handler.timeout.WriteTimeoutException", "timeout"),
    ("jakarta.ws.rs.ClientErrorException", "http_4xx"),
    ("jakarta.ws.rs.ServerErrorException", "http_5xx"),
    ("javax.ws.rs.ClientErrorException", "http_4xx"),
    ("javax.ws.rs.ServerErrorException", "http_5xx"),
    ("org.apache.http.conn.ConnectTimeoutException", "timeout"),
    ("org.springframework.web.client.HttpClientErrorException", "http_4xx"),
    ("org.springframework.web.client.HttpServerErrorException", "http_5xx"),
    ("org.springframework.web.client.ResourceAccessException", "io"),
    ("org.springframework.web.reactive.function.client.WebClientRequestException", "io"),
];

/// Classes that every exception is one of.
const EVERYTHING: &[&str] =
    &["java.lang.Throwable", "java.lang.Exception", "Throwable", "Exception"];

/// The kind of a well-known class.
pub(crate) fn kind_of(class: &str) -> Option<&'static str> {
    let qualified = class.contains('.');
    CLASSES
        .iter()
        .find(|(known, _)| {
            let known_short = known.rsplit('.').next().unwrap_or(known);
            *known == class || (!qualified && known_short == class)
        })
        .map(|(_, kind)| *kind)
}

/// Whether the class stands for every exception there is.
pub(crate) fn is_everything(class: &str) -> bool {
    EVERYTHING.contains(&class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_classes_have_kinds() {
        for (class, kind) in [
            ("java.io.IOException", "io"),
            ("IOException", "io"),
            ("java.util.concurrent.TimeoutException", "timeout"),
            ("TimeoutException", "timeout"),
            ("SocketTimeoutException", "timeout"),
            ("java.net.ConnectException", "connect"),
            ("org.springframework.web.client.HttpServerErrorException", "http_5xx"),
            ("HttpClientErrorException", "http_4xx"),
        ] {
            assert_eq!(kind_of(class), Some(kind), "{class}");
        }
    }

    #[test]
    fn a_users_class_is_not_taken_for_a_known_one_of_the_same_name() {
        assert_eq!(kind_of("com.example.TimeoutException"), None);
        assert_eq!(kind_of("card_declined"), None);
    }
}
