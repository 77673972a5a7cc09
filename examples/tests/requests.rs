//! Requests that no service should believe.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use examples::{system::System, web::Server};
use resilience::circuit_breaker::State;
use serde_json::json;
use support::{Answer, World, book};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

#[tokio::test]
async fn what_is_not_an_order_is_400() {
    let world = World::start(&[]).await;
    for body in ["", "{", "[]", r#"{"user_id":"one"}"#, r#"{"user_id":1,"sku":"book"}"#] {
        let answer = world.raw_order(body.into()).await;
        assert_eq!((answer.status, &answer.body["error"]), (400, &json!("BAD_JSON")), "{body}");
        assert!(answer.body["message"].is_string(), "{body}");
    }
    let free = json!({ "user_id": 1, "sku": "book", "quantity": 1, "amount": 0 });
    let answer = world.order(&free).await;
    assert_eq!((answer.status, &answer.body["error"]), (400, &json!("INVALID_ORDER")));
}

#[tokio::test]
async fn a_body_is_read_up_to_64_kib_and_is_413_above() {
    let world = World::start(&[]).await;
    let longest = world.raw_order(vec![b' '; 64 * 1024]).await;
    assert_eq!(longest.status, 400, "read, and not an order: {longest:?}");
    let longer = world.raw_order(vec![b' '; 64 * 1024 + 1]).await;
    assert_eq!((longer.status, &longer.body["error"]), (413, &json!("BODY_TOO_LARGE")));
}

#[tokio::test]
async fn what_does_not_exist_is_404_with_the_systems_own_body() {
    let world = World::start(&[]).await;
    let System { order, inventory, payment, provider, account, .. } = &world.system;
    for (server, path) in [
        (order, "/orders/unknown"),
        (order, "/products/unknown"),
        (payment, "/payments/unknown"),
        (order, "/nothing"),
        (inventory, "/nothing"),
        (payment, "/%ff"),
        (provider, "/nothing"),
        (account, "/nothing"),
    ] {
        let answer = world.get(format!("{}{path}", server.url())).await;
        assert_error(&answer, 404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_method_that_a_path_does_not_take_is_405_with_the_systems_own_body() {
    let world = World::start(&[]).await;
    let System { order, inventory, payment, provider, .. } = &world.system;
    for (server, path) in [
        (order, "/orders"),
        (inventory, "/inventory/reserve"),
        (inventory, "/faults"),
        (payment, "/payments"),
        (provider, "/charges"),
    ] {
        let answer = world.get(format!("{}{path}", server.url())).await;
        assert_error(&answer, 405, "METHOD_NOT_ALLOWED");
    }
}

#[tokio::test]
async fn a_path_that_cannot_be_read_is_400_with_the_systems_own_body() {
    let world = World::start(&[]).await;
    let (order, payment) = (world.system.order.url(), world.system.payment.url());
    let account = world.system.account.url();
    for url in [
        format!("{order}/orders/%ff"),
        format!("{order}/products/%ff"),
        format!("{payment}/payments/%ff"),
        format!("{account}/internal/user/one/has-service-role"),
    ] {
        assert_error(&world.get(url).await, 400, "BAD_PATH");
    }
}

#[tokio::test]
async fn an_idempotency_key_is_1_to_200_visible_ascii_characters() {
    let world = World::start(&[]).await;
    let longest = "k".repeat(200);
    assert_eq!(world.keyed_order(&longest, &book(1)).await.status, 200);
    assert_eq!(world.keyed_order("!~", &book(2)).await.status, 200);

    let longer = "k".repeat(201);
    for key in ["", "a b", "a\tb", "\u{e9}", &longer] {
        let order = world.keyed_order(key, &book(3)).await;
        assert_error(&order, 400, "IDEMPOTENCY_KEY_INVALID");
        let payment = world.pay(key, &json!({ "order_id": "o", "amount": 100 })).await;
        assert_error(&payment, 400, "IDEMPOTENCY_KEY_INVALID");
    }
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_408_and_the_connection_is_closed() {
    let world = World::start(&[]).await;
    let half = b"POST /orders HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{";
    let answer = send_half(&world.system.order, half).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains(r#""error":"BODY_TIMEOUT""#), "{answer}");
}

#[tokio::test]
async fn a_header_that_does_not_arrive_closes_the_connection() {
    let world = World::start(&[]).await;
    let answer = send_half(&world.system.order, b"POST /orders HTTP/1.1\r\nhost:").await;
    assert_eq!(answer, "");
}

#[tokio::test]
async fn faults_out_of_range_are_400_and_faults_are_switched_on_simulated_services_only() {
    let world = World::start(&[]).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let put = async |base: String, plan| {
        let request = client.put(format!("{base}/faults")).json(&plan);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(put(world.system.provider.url(), json!({ "drop_rate": 1.1 })).await, 400);
    assert_eq!(put(world.system.provider.url(), json!({ "delay": 5 })).await, 400);
    assert_eq!(put(world.system.order.url(), json!({})).await, 404);
    assert_eq!(put(world.system.payment.url(), json!({})).await, 404);
}

#[tokio::test]
async fn every_service_is_alive_and_ready() {
    let world = World::start(&[]).await;
    for server in servers(&world.system) {
        for path in ["livez", "readyz"] {
            let answer = world.get(format!("{}/{path}", server.url())).await;
            assert_eq!(answer.status, 200, "{}/{path}", server.url());
        }
    }
}

#[tokio::test]
async fn a_service_whose_breakers_are_open_is_alive_and_ready() {
    let world = World::start(&[]).await;
    for breaker in world.registry.circuit_breakers() {
        breaker.transition_to(State::ForcedOpen).unwrap();
    }
    assert_eq!(world.order(&book(1)).await.status, 503, "nobody gets in");
    for server in servers(&world.system) {
        for path in ["livez", "readyz"] {
            let answer = world.get(format!("{}/{path}", server.url())).await;
            assert_eq!(answer.status, 200, "{}/{path}", server.url());
        }
    }
}

fn servers(system: &System) -> [&Server; 6] {
    let System { order, inventory, payment, provider, account, mail, .. } = system;
    [order, inventory, payment, provider, account, mail]
}

/// Asserts that the body is an error's and nothing else.
fn assert_error(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, &answer.body["error"]), (status, &json!(code)), "{answer:?}");
    assert!(answer.body["message"].is_string(), "{answer:?}");
}

/// Sends a request that stops short, and reads until the server closes the connection.
async fn send_half(server: &Server, request: &[u8]) -> String {
    let mut connection = TcpStream::connect(server.address()).await.unwrap();
    connection.write_all(request).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    answer
}
