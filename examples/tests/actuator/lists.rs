use reqwest::StatusCode;
use serde_json::json;

use crate::support::{ONE_OF_EACH, serve};

#[tokio::test]
async fn breakers_are_listed_with_their_numbers_by_name() {
    let served = serve(ONE_OF_EACH).await;
    served.registry.circuit_breaker("another");
    let listed = served.json("/circuitbreakers").await;
    assert_eq!(
        listed["circuitBreakers"]["payment"],
        json!({
            "failureRate": "-1.0%",
            "slowCallRate": "-1.0%",
            "failureRateThreshold": "50.0%",
            "slowCallRateThreshold": "100.0%",
            "bufferedCalls": 0,
            "failedCalls": 0,
            "slowCalls": 0,
            "slowFailedCalls": 0,
            "notPermittedCalls": 0,
            "state": "CLOSED",
        })
    );
    let names: Vec<_> = listed["circuitBreakers"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["another", "payment"]);
}

#[tokio::test]
async fn the_other_patterns_are_listed_by_sorted_names_and_both_bulkheads_together() {
    let served = serve(ONE_OF_EACH).await;
    served.registry.retry("another");
    for (path, list) in [
        ("/retries", json!({ "retries": ["another", "payment"] })),
        ("/ratelimiters", json!({ "rateLimiters": ["payment"] })),
        ("/timelimiters", json!({ "timeLimiters": ["payment"] })),
        ("/bulkheads", json!({ "bulkheads": ["payment", "ThreadPoolBulkhead-payment"] })),
    ] {
        assert_eq!(served.json(path).await, list);
    }
}

#[tokio::test]
async fn the_configuration_is_shown_with_the_origin_of_every_value() {
    let served = serve(ONE_OF_EACH).await;
    let shown = served.json("/config").await;
    let settings = shown["settings"].as_array().unwrap();
    let find = |key: &str| settings.iter().find(|setting| setting["key"] == key).unwrap();
    assert_eq!(
        *find("retry.instances.payment.max_attempts"),
        json!({
            "key": "retry.instances.payment.max_attempts",
            "value": "4",
            "origin": "<text>:3 (retry.instances.payment)",
        })
    );
    assert_eq!(find("retry.instances.payment.wait_duration")["origin"], "default");
    assert!(shown["warnings"].is_array());
}

#[tokio::test]
async fn prometheus_scrapes_what_the_registry_counts() {
    let served = serve(ONE_OF_EACH).await;
    let scrape = served.get("/prometheus").send().await.unwrap();
    let content_type = &scrape.headers()["content-type"];
    assert_eq!(content_type, "text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(scrape.text().await.unwrap(), served.registry.prometheus());
}

#[tokio::test]
async fn the_root_is_links_for_programs_and_a_page_for_browsers() {
    let served = serve("").await;
    let links = served.json("").await["_links"].clone();
    assert_eq!(links["health"], json!({ "href": "/actuator/health", "templated": false }));
    for (name, link) in links.as_object().unwrap() {
        let path = link["href"].as_str().unwrap().strip_prefix("/actuator").unwrap();
        if link["templated"] == false {
            assert_eq!(served.status(path).await, StatusCode::OK, "{name}");
        }
    }
    let page = served.get("").header("accept", "text/html,*/*").send().await.unwrap();
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    assert!(page.text().await.unwrap().contains("<title>"));
}

#[tokio::test]
async fn every_link_of_the_root_leads_somewhere() {
    let served = serve(ONE_OF_EACH).await;
    let links = served.json("").await["_links"].clone();
    for (name, link) in links.as_object().unwrap() {
        let path = link["href"].as_str().unwrap().strip_prefix("/actuator").unwrap();
        let filled = [("{name}", "payment"), ("{eventType}", "SUCCESS"), ("{path}", "liveness")]
            .into_iter()
            .fold(path.to_owned(), |path, (hole, value)| path.replace(hole, value));
        assert!(!filled.contains('{'), "{filled}");
        assert_eq!(link["templated"], filled != path, "{name}");
        assert_ne!(served.status(&filled).await, StatusCode::NOT_FOUND, "{name}");
    }
}

#[tokio::test]
async fn nothing_is_cached_framed_or_run_that_is_not_the_pages_own() {
    let served = serve("").await;
    for path in ["", "/page/page.js", "/page/page.css", "/health", "/no/such/path"] {
        let response = served.get(path).header("accept", "text/html").send().await.unwrap();
        let headers = response.headers();
        let policy = headers["content-security-policy"].to_str().unwrap();
        for directive in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(directive), "{path}: {policy}");
        }
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["cache-control"], "no-store", "{path}");
        assert!(!headers.contains_key("access-control-allow-origin"), "{path}");
    }
}
