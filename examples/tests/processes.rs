//! The same system as separate processes.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use support::book;

/// A service that runs as a process of its own, and is killed with the test.
struct Service {
    child: Child,
    url: String,
}

impl Service {
    fn start(binary: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(binary)
            .args(["--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().rsplit(' ').next().unwrap().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{line:?}");
        Self { child, url }
    }

    fn terminate(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn an_order_goes_through_four_processes_which_end_when_told_to() {
    let provider = Service::start(env!("CARGO_BIN_EXE_pg"), &[]);
    let payment = Service::start(env!("CARGO_BIN_EXE_payment"), &["--provider-url", &provider.url]);
    let inventory = Service::start(env!("CARGO_BIN_EXE_inventory"), &[]);
    let urls = ["--inventory-url", &inventory.url, "--payment-url", &payment.url];
    let order = Service::start(env!("CARGO_BIN_EXE_order"), &urls);

    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.post(format!("{}/orders", order.url)).json(&book(1));
    let placed: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(placed["status"], "CONFIRMED", "{placed}");
    for service in [order, inventory, payment, provider] {
        assert_eq!(service.terminate(), Some(0));
    }
}

#[test]
fn a_mistake_in_the_configuration_stops_the_start_and_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("wrong.yaml");
    std::fs::write(&file, "ratelimiter:\n  instances:\n    orderRl:\n      limit_for_perod: 10\n")
        .unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_order"))
        .args(["--port", "0", "--config"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A service that starts all the same prints its address; killing it then fails the test.
    let mut service = Service { child, url: String::new() };
    let mut line = String::new();
    BufReader::new(service.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "", "it started");
    let mut message = String::new();
    service.child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(service.child.wait().unwrap().code(), Some(1));
    assert!(message.contains("limit_for_perod"), "{message}");
    assert!(message.contains("limit_for_period"), "{message}");
}

#[test]
fn a_broken_promise_is_exit_status_1_and_says_so_to_machines() {
    // One order a second is less than what scene 1 promises to serve.
    let output = Command::new(env!("CARGO_BIN_EXE_demo"))
        .args(["--scene", "1", "--json"])
        .env("RESILIENCE_RATELIMITER_INSTANCES_ORDERRL_LIMITFORPERIOD", "1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["kept"], false, "{report}");
    assert_eq!(report["scenes"][0]["scene"], 1, "{report}");
}

#[test]
fn a_scene_that_does_not_exist_is_refused_with_those_that_do() {
    let output = Command::new(env!("CARGO_BIN_EXE_demo")).args(["--scene", "99"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("the scenes are 1, 2, 4, 5"), "{message}");
}
