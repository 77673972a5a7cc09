//! Who a request is meant for.

use std::net::IpAddr;

use axum::{
    extract::Request,
    http::{StatusCode, header::HOST},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::problem::Problem;

/// Refuses what is meant for another host than this one, as a browser asks for a name that somebody has
/// made to point here.
pub(super) async fn local_only(request: Request, next: Next) -> Response {
    // Of two, nobody knows which one is meant.
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    if host.is_some_and(is_local) && hosts.next().is_none() {
        return next.run(request).await;
    }
    let message = "this server answers for localhost and loopback addresses only";
    Problem::new(StatusCode::MISDIRECTED_REQUEST, message).into_response()
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_loopback_is_local() {
        for host in
            ["localhost", "LOCALHOST:9080", "127.0.0.1:9080", "127.1.2.3", "[::1]:80", "[::1]"]
        {
            assert!(is_local(host), "{host}");
        }
        for host in
            ["", "evil.example:9080", "localhost.evil.example", "10.0.0.1:80", "[::2]:1", "1"]
        {
            assert!(!is_local(host), "{host}");
        }
    }
}
