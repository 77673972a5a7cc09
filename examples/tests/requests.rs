//! Requests that no service should believe.

mod support;

use serde_json::json;
use support::World;

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
    let base = world.system.order.url();
    for path in ["/orders/unknown", "/nothing"] {
        let answer = world.get(format!("{base}{path}")).await;
        assert_eq!((answer.status, &answer.body["error"]), (404, &json!("NOT_FOUND")), "{path}");
    }
}

#[tokio::test]
async fn a_method_that_a_path_does_not_take_is_405_with_the_systems_own_body() {
    let world = World::start(&[]).await;
    let answer = world.get(format!("{}/orders", world.system.order.url())).await;
    assert_eq!((answer.status, &answer.body["error"]), (405, &json!("METHOD_NOT_ALLOWED")));
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
    let system = &world.system;
    for server in [&system.order, &system.inventory, &system.payment, &system.provider] {
        for path in ["livez", "readyz"] {
            let answer = world.get(format!("{}/{path}", server.url())).await;
            assert_eq!(answer.status, 200, "{}/{path}", server.url());
        }
    }
}
