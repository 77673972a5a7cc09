//! Users are not shown to those who run the system: neither in logs nor in metrics nor in events.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::Router;
use examples::{access::Lifetimes, faults::FaultPlan, web::Server};
use resilience::actuator::Actuator;
use serde_json::json;
use support::{World, book, until};
use tracing::level_filters::LevelFilter;

/// One who may, one who may not, one who does not exist, and one who comes when it cannot be told: all of
/// them with digits that nothing else has.
const USERS: [i64; 4] = [271_828, 314_159, 2_718_281_828, 577_215];

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn shown_in(text: &str) -> Option<&str> {
    text.lines().find(|line| USERS.iter().any(|user| line.contains(&user.to_string())))
}

#[tokio::test]
async fn no_user_is_in_a_log_a_metric_or_an_event_whatever_happens_to_his_requests() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer({
            let log = log.clone();
            move || log.clone()
        })
        .with_ansi(false)
        .with_max_level(LevelFilter::TRACE)
        .finish();
    // For this thread, on which all of the test runs.
    let _guard = tracing::subscriber::set_default(subscriber);
    let patience = ("timelimiter.instances.accountAccessTl.timeout_duration", "50ms");
    let version = Duration::from_millis(1); // so that it is asked for, and fails, as well
    let lifetimes = Lifetimes { version, ..Lifetimes::default() };
    let mut world = World::remembering(&[patience], lifetimes).await;
    let role = format!("{}/users/{}", world.system.account.url(), USERS[1]);
    world.put(role, &json!({ "has_service_role": false })).await;
    let events = Log::default();
    let write = {
        let events = events.clone();
        move |what: String| events.0.lock().unwrap().extend(format!("{what}\n").into_bytes())
    };
    let [access, read] = ["accountAccess", "accountRead"].map(|name| {
        let write = write.clone();
        let breaker = world.registry.circuit_breaker(name);
        breaker.events().subscribe(move |event| write(format!("{event:?}")))
    });
    let retries = world.registry.retry("reconnect").events().subscribe({
        let write = write.clone();
        move |event| write(format!("{event:?}"))
    });
    let healthy = FaultPlan::default();
    world.mail_faults(FaultPlan { error_rate: 1.0, ..healthy }).await;
    let mut statuses = Vec::new();
    for user in &USERS[..3] {
        statuses.push(world.order(&book(*user)).await.status);
    }
    until("a mail is lost", async || log.text().contains("a mail may not have been sent")).await;
    for faults in [
        FaultPlan { error_rate: 1.0, ..healthy },
        FaultPlan { drop_rate: 1.0, ..healthy },
        FaultPlan { delay_ms: 60_000, ..healthy },
    ] {
        world.account_faults(faults).await;
        statuses.push(world.order(&book(USERS[3])).await.status);
    }
    let other = Server::start(0, Router::new()).await.unwrap();
    std::mem::replace(&mut world.system.account, other).stop().await.unwrap();
    for _ in 0..5 {
        statuses.push(world.order(&book(USERS[3])).await.status);
    }
    assert_eq!(statuses, [200, 403, 403, 503, 503, 503, 503, 503, 503, 503, 503]);

    let log = log.text();
    for part in ["accountAccess", "reconnect", "what was allowed stays so"] {
        assert!(log.contains(part), "the log is not listened to: {part} is missing");
    }
    assert_eq!(shown_in(&log), None);
    drop((access, read, retries));
    let events = events.text();
    for part in ["unknown_user", "http_5xx", "broken", "connect"] {
        assert!(events.contains(part), "{part} is missing: {events}");
    }
    assert_eq!(shown_in(&events), None);
    let actuator = Actuator::new(&world.registry).bind("127.0.0.1:0").await.unwrap();
    for path in ["prometheus", "instances", "circuitbreakerevents"] {
        let url = format!("http://{}/actuator/{path}", actuator.address());
        let shown = reqwest::get(url).await.unwrap().text().await.unwrap();
        assert!(shown.contains("accountAccess"), "{path}: {shown}");
        assert_eq!(shown_in(&shown), None, "{path}");
    }
}
