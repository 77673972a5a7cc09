//! The same system as separate processes.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use examples::{redis_server::RedisServer, settings::EMBEDDED};
use serde_json::Value;
use support::{book, until};

/// How long a process waits for requests under way: what ends well before it was not waited for.
const GRACE: Duration = Duration::from_secs(8);

/// A service that runs as a process of its own, and is killed with the test.
struct Service {
    child: Child,
    url: String,
}

impl Service {
    fn start(service: &str, arguments: &[&str]) -> Self {
        Self::start_with_log(service, arguments, Stdio::null())
    }

    fn start_with_log(service: &str, arguments: &[&str], log: Stdio) -> Self {
        let mut child = Command::new(binary(service))
            .args(["--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().rsplit(' ').next().unwrap().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{line:?}");
        Self { child, url }
    }

    fn terminate(mut self) -> Option<i32> {
        self.tell_to_end();
        self.child.wait().unwrap().code()
    }

    fn tell_to_end(&self) {
        self.signal("-TERM");
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn binary(service: &str) -> &'static str {
    match service {
        "order" => env!("CARGO_BIN_EXE_order"),
        "inventory" => env!("CARGO_BIN_EXE_inventory"),
        "payment" => env!("CARGO_BIN_EXE_payment"),
        "pg" => env!("CARGO_BIN_EXE_pg"),
        "account" => env!("CARGO_BIN_EXE_account"),
        "mail" => env!("CARGO_BIN_EXE_mail"),
        _ => panic!("there is no service '{service}'"),
    }
}

/// Starts a service that must not start, and returns its status and what it says.
fn refused_start(service: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(binary(service));
    if !arguments.contains(&"--port") {
        command.args(["--port", "0"]);
    }
    let child =
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A service that starts all the same prints its address; killing it then fails the test.
    let mut service = Service { child, url: String::new() };
    let mut line = String::new();
    BufReader::new(service.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "", "it started with {arguments:?}");
    let mut message = String::new();
    service.child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    (service.child.wait().unwrap().code(), message)
}

#[tokio::test]
async fn an_order_goes_through_six_processes_which_end_when_told_to() {
    let provider = Service::start("pg", &[]);
    let account = Service::start("account", &[]);
    let gate = ["--account-url", &account.url];
    let payment =
        Service::start("payment", &[&["--provider-url", &provider.url], &gate[..]].concat());
    let inventory = Service::start("inventory", &gate);
    let mail = Service::start("mail", &[]);
    let urls = ["--inventory-url", &inventory.url, "--payment-url", &payment.url];
    let mail_url = ["--mail-url", &mail.url];
    let order = Service::start("order", &[&urls[..], &mail_url, &gate].concat());

    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.post(format!("{}/orders", order.url)).json(&book(1));
    let placed: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(placed["status"], "CONFIRMED", "{placed}");
    // The end of the order service waits for the mail.
    assert_eq!(order.terminate(), Some(0));
    let sent = client.get(format!("{}/mails", mail.url)).send().await.unwrap();
    let sent: Value = sent.json().await.unwrap();
    assert_eq!(sent["last"][0]["order_id"], placed["order_id"], "{sent}");
    for service in [inventory, payment, account, provider, mail] {
        assert_eq!(service.terminate(), Some(0));
    }
}

#[tokio::test]
async fn a_payment_service_that_is_killed_while_it_asks_settles_the_payment_once_it_is_back() {
    let provider = Service::start("pg", &[]);
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("payment.db");
    let account = Service::start("account", &[]);
    let arguments = [
        "--provider-url",
        &provider.url,
        "--account-url",
        &account.url,
        "--database",
        database.to_str().unwrap(),
    ];
    let payment = Service::start("payment", &arguments);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let faults = async |body: &'static str| {
        let faults = client.put(format!("{}/faults", provider.url)).body(body);
        assert_eq!(faults.send().await.unwrap().status(), 200);
    };
    let ledger = async || {
        let ledger = client.get(format!("{}/ledger", provider.url)).send().await.unwrap();
        ledger.json::<Value>().await.unwrap()["charges"].clone()
    };

    faults(r#"{"delay_ms":60000}"#).await;
    let request = client
        .post(format!("{}/payments", payment.url))
        .header("idempotency-key", "k")
        .header("x-user-id", "1")
        .body(r#"{"order_id":"o","amount":100}"#);
    let request = tokio::spawn(request.send());
    until("the provider is asked", async || ledger().await[0]["verdict"] == "APPROVED").await;
    drop(payment); // by SIGKILL
    assert!(request.await.unwrap().is_err());
    faults("{}").await;

    let again = ["--settle-every", "1", "--abandoned-after", "1"];
    let payment = Service::start("payment", &[&arguments[..], &again].concat());
    let found = async || {
        let payment = client.get(format!("{}/payments/k", payment.url)).send().await.unwrap();
        payment.json::<Value>().await.unwrap()
    };
    until("the payment is settled", async || found().await["status"] == "APPROVED").await;
    assert_eq!(found().await["settled_by"], "RECONCILER");
    let charges = ledger().await;
    assert_eq!((charges.as_array().map(Vec::len), &charges[0]["requests"]), (Some(1), &1.into()));
    assert_eq!(payment.terminate(), Some(0));
}

/// What two order processes need around them.
struct Callees {
    account: Service,
    provider: Service,
    payment: Service,
    inventory: Service,
}

impl Callees {
    fn start() -> Self {
        let account = Service::start("account", &[]);
        let gate = ["--account-url", &account.url];
        let provider = Service::start("pg", &[]);
        let urls = ["--provider-url", &provider.url];
        let payment = Service::start("payment", &[&urls[..], &gate].concat());
        let inventory = Service::start("inventory", &gate);
        Self { account, provider, payment, inventory }
    }

    fn order(&self, more: &[&str]) -> Service {
        let urls = ["--inventory-url", &self.inventory.url, "--payment-url", &self.payment.url];
        let gate = ["--account-url", &self.account.url];
        Service::start("order", &[&urls[..], &gate, more].concat())
    }
}

#[tokio::test]
async fn a_double_click_at_two_processes_that_share_a_redis_submits_once() {
    let redis = RedisServer::start().await.expect("a Redis");
    let callees = Callees::start();
    let shared = ["--redis", &redis.url()];
    let [one, other] = [callees.order(&shared), callees.order(&shared)];
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    // Both come before the first is answered.
    let faults = client.put(format!("{}/faults", callees.provider.url));
    faults.body(r#"{"delay_ms":1000}"#).send().await.unwrap();

    for key in [Some("k"), None] {
        let click = async |process: &Service| {
            let mut request = client.post(format!("{}/orders", process.url)).json(&book(1));
            if let Some(key) = key {
                request = request.header("idempotency-key", key);
            }
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
        };
        let (a, b) = tokio::join!(click(&one), click(&other));
        let mut statuses = [a.0, b.0];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{key:?}: {a:?} {b:?}");
        let told = if a.0 == 409 { a.1 } else { b.1 };
        assert_eq!(told["error"], "ALREADY_IN_PROGRESS", "{told}");
    }
    let ledger = client.get(format!("{}/ledger", callees.provider.url)).send().await.unwrap();
    let ledger: Value = ledger.json().await.unwrap();
    assert_eq!(ledger["charges"].as_array().map(Vec::len), Some(2), "{ledger}");
}

#[tokio::test]
async fn the_other_entrance_has_one_limit_for_all_processes_with_a_redis_and_says_whose_it_has() {
    let redis = RedisServer::start().await.expect("a Redis");
    let callees = Callees::start();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = redis.url();
    for (arguments, scope, admitted) in
        [(&["--redis", &url][..], "global", 2), (&[][..], "local", 4)]
    {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("resilience.yaml");
        // Periods that do not end during the test.
        let long = EMBEDDED.replace("limit_refresh_period: 1s", "limit_refresh_period: 365d");
        let low = long.replace("limit_for_period: 10", "limit_for_period: 2");
        std::fs::write(&file, low).unwrap();
        let config = ["--config", file.to_str().unwrap()];
        let processes = [(); 2].map(|()| callees.order(&[&config[..], arguments].concat()));
        let mut statuses = Vec::new();
        for user in 0..3 {
            for process in &processes {
                let request =
                    client.post(format!("{}/orders/global", process.url)).json(&book(user));
                let answer = request.send().await.unwrap();
                assert_eq!(answer.headers()["x-limit-scope"], scope);
                statuses.push(answer.status().as_u16());
            }
        }
        let count = |status| statuses.iter().filter(|other| **other == status).count();
        assert_eq!((count(200), count(429)), (admitted, 6 - admitted), "{scope}: {statuses:?}");
    }
}

#[test]
fn an_address_that_is_no_redis_stops_the_start_and_is_not_shown() {
    let (status, message) = refused_start("order", &["--redis", "http://:geheim@x"]);
    assert_eq!(status, Some(1));
    assert!(message.contains("redis.url") && message.contains("redis://"), "{message}");
    assert!(!message.contains("geheim"), "{message}");
}

#[tokio::test]
async fn a_secret_that_is_too_short_stops_the_start_and_is_not_shown() {
    for service in ["order", "payment", "pg"] {
        let output = Command::new(binary(service))
            .args(["--port", "0"])
            .env("CALLBACK_SECRET", "geheim")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{service}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("CALLBACK_SECRET") && !message.contains("geheim"), "{message}");
    }
}

#[tokio::test]
async fn a_hangup_reads_the_configuration_anew_and_a_wrong_one_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("resilience.yaml");
    let limit = |limit: u32| {
        let limit = format!("limit_for_period: {limit}");
        let text = EMBEDDED.replacen("limit_for_period: 10", &limit, 1);
        std::fs::write(
            &file,
            text.replacen("limit_refresh_period: 1s", "limit_refresh_period: 1h", 1),
        )
    };
    limit(1).unwrap();
    let arguments = ["--config", file.to_str().unwrap()];
    let mut order = Service::start_with_log("order", &arguments, Stdio::piped());
    let mut log = BufReader::new(order.child.stderr.take().unwrap()).lines();
    let mut until_logged = |part: &str| log.find(|line| line.as_ref().unwrap().contains(part));

    limit(3).unwrap();
    order.signal("-HUP");
    let change = until_logged("ratelimiter.instances.orderRl.limit_for_period").unwrap().unwrap();
    assert!(change.contains(": 1 (") && change.contains(" -> 3 ("), "{change}");
    assert!(change.contains("resilience.yaml:"), "{change}");

    std::fs::write(&file, "ratelimiter.instances.orderRl.limit_for_period: 0").unwrap();
    order.signal("-HUP");
    let refused = until_logged("reload failed").unwrap().unwrap();
    assert!(refused.contains("limit_for_period = 0"), "{refused}");

    limit(4).unwrap();
    order.signal("-HUP");
    let change = until_logged("ratelimiter.instances.orderRl.limit_for_period").unwrap().unwrap();
    assert!(change.contains(": 3 (") && change.contains(" -> 4 ("), "{change}");
    assert_eq!(order.terminate(), Some(0));
}

#[test]
fn a_mistake_in_the_configuration_stops_the_start_and_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("wrong.yaml");
    std::fs::write(&file, "ratelimiter:\n  instances:\n    orderRl:\n      limit_for_perod: 10\n")
        .unwrap();
    let (status, message) = refused_start("order", &["--config", file.to_str().unwrap()]);
    assert_eq!(status, Some(1));
    assert!(message.contains("limit_for_perod"), "{message}");
    assert!(message.contains("limit_for_period"), "{message}");
}

#[test]
fn a_url_that_nothing_can_be_sent_to_stops_the_start_and_is_named_with_what_is_allowed() {
    for (service, flag) in [
        ("order", "--inventory-url"),
        ("order", "--payment-url"),
        ("payment", "--provider-url"),
        ("inventory", "--account-url"),
    ] {
        for url in ["notaurl", "ftp://x", "https://x"] {
            let (status, message) = refused_start(service, &[flag, url]);
            assert_eq!(status, Some(2), "{message}");
            for part in [flag, url, "http://HOST"] {
                assert!(message.contains(part), "{part} is not in {message}");
            }
        }
    }
}

#[test]
fn a_port_that_is_taken_and_a_file_that_is_no_database_are_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for service in ["order", "inventory", "payment", "pg", "account"] {
        let (status, message) = refused_start(service, &["--port", &port]);
        assert_eq!(status, Some(1));
        assert!(message.contains(&format!("127.0.0.1:{port}")), "{message}");
    }
    let (status, message) = refused_start("order", &["--management-port", &port]);
    assert_eq!(status, Some(1));
    assert!(message.contains(&format!("127.0.0.1:{port}")), "{message}");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("notes.txt");
    std::fs::write(&file, "this is not a database, whatever it is called ".repeat(100)).unwrap();
    let missing = directory.path().join("missing/service.db");
    for service in ["order", "inventory", "payment"] {
        for file in [&file, &missing] {
            let file = file.to_str().unwrap();
            let (status, message) = refused_start(service, &["--database", file]);
            assert_eq!(status, Some(1));
            assert!(message.contains(file), "{message}");
        }
    }
}

#[test]
fn a_token_that_is_too_short_stops_the_start_and_is_not_shown() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    // So that it ends as well if it takes the token.
    let port = taken.local_addr().unwrap().port().to_string();
    let order = Command::new(binary("order"))
        .args(["--port", "0", "--management-port", &port])
        .env("ACTUATOR_TOKEN", "geheim")
        .output()
        .unwrap();
    assert_eq!(order.status.code(), Some(1));
    let message = String::from_utf8(order.stderr).unwrap();
    assert!(message.contains("ACTUATOR_TOKEN") && !message.contains("geheim"), "{message}");
}

#[test]
fn half_sent_requests_do_not_hold_up_the_end() {
    let order = Service::start("order", &[]);
    let _halves: Vec<_> = [
        "",
        "POST /orders HTTP/1.1\r\nhost:",
        "POST /orders HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{",
    ]
    .map(|half| {
        let mut connection = TcpStream::connect(order.address()).unwrap();
        connection.write_all(half.as_bytes()).unwrap();
        connection
    })
    .into();
    let start = Instant::now();
    assert_eq!(order.terminate(), Some(0));
    assert!(start.elapsed() < GRACE, "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_second_signal_ends_a_process_at_once() {
    let provider = Service::start("pg", &[]);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let faults = client.put(format!("{}/faults", provider.url)).body(r#"{"delay_ms":60000}"#);
    assert_eq!(faults.send().await.unwrap().status(), 200);
    let charge = client
        .post(format!("{}/charges", provider.url))
        .header("idempotency-key", "k")
        .body(r#"{"reference":"r","amount":1}"#);
    let charge = tokio::spawn(charge.send());
    until("the charge is under way", async || {
        let ledger = client.get(format!("{}/ledger", provider.url)).send().await.unwrap();
        ledger.text().await.unwrap().contains("APPROVED")
    })
    .await;

    let start = Instant::now();
    provider.tell_to_end();
    // From the first signal on, nobody listens; only then is the second one a second.
    until("the first signal has come", async || TcpStream::connect(provider.address()).is_err())
        .await;
    assert!(!charge.is_finished(), "it is waited for");
    assert_eq!(provider.terminate(), Some(0));
    assert!(start.elapsed() < GRACE, "{:?}", start.elapsed());
    assert!(charge.await.unwrap().is_err());
}

#[test]
fn a_process_that_is_told_to_ends_with_its_input_and_any_other_does_not() {
    let start = |arguments: &[&str]| {
        let mut child = Command::new(binary("account"))
            .args(["--port", "0"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("listens"), "{line:?}");
        drop(child.stdin.take());
        Service { child, url: String::new() }
    };
    let mut other = start(&[]);
    let mut told = start(&["--end-with-input"]);
    assert_eq!(told.child.wait().unwrap().code(), Some(0));
    assert_eq!(other.child.try_wait().unwrap(), None);
}

/// The state of a process in `/proc` and who has started it; nothing if it is gone.
#[cfg(target_os = "linux")]
fn state_and_parent(process: &Path) -> Option<(String, u32)> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    // The name before it may hold anything, a closing bracket as well.
    let mut after_name = stat.rsplit(')').next()?.split_whitespace();
    Some((after_name.next()?.to_owned(), after_name.next()?.parse().ok()?))
}

/// The processes that this one has started.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
    let is_child = |process: &PathBuf| state_and_parent(process).is_some_and(|(_, p)| p == parent);
    processes.map(|process| process.path()).filter(is_child).collect()
}

/// On how many ports of 127.0.0.1 a process listens.
#[cfg(target_os = "linux")]
fn ports(process: &Path) -> usize {
    const LISTENS: &str = "0A";
    let table = std::fs::read_to_string(process.join("net/tcp")).unwrap_or_default();
    let listening = table.lines().filter_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        (fields.get(3) == Some(&LISTENS)).then(|| format!("socket:[{}]", fields[9]))
    });
    let listening: Vec<_> = listening.collect();
    let Ok(files) = std::fs::read_dir(process.join("fd")) else { return 0 };
    let files = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    files.filter(|file| listening.iter().any(|socket| file.as_os_str() == &**socket)).count()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_demo_that_is_killed_leaves_no_process_behind() {
    let demo = Command::new(env!("CARGO_BIN_EXE_demo"))
        .args(["--scene", "8"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let demo = Service { child: demo, url: String::new() };
    until("a Redis and three order processes run", async || children(demo.child.id()).len() == 4)
        .await;
    // Before they listen they end as well because nobody is there to be told.
    until("three order processes listen for customers and for who runs them", async || {
        children(demo.child.id()).iter().filter(|process| ports(process) == 2).count() == 3
    })
    .await;
    // With the Redis, unless the scene has just killed it.
    let left = children(demo.child.id());
    drop(demo); // which kills it
    until("they have ended", async || {
        // One that nobody has taken note of is a zombie.
        let state = |process: &PathBuf| state_and_parent(process).map(|(state, _)| state);
        left.iter().filter_map(state).all(|state| state == "Z")
    })
    .await;
}

#[tokio::test]
async fn the_management_port_tells_whether_a_process_lives_and_can_work_whatever_its_breakers_say()
{
    let mut order = Command::new(binary("order"))
        .args(["--port", "0", "--management-port", "0"])
        .env("ACTUATOR_TOKEN", "a-token-of-the-test")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut urls = BufReader::new(order.stdout.take().unwrap()).lines().map(|line| {
        let line = line.unwrap();
        line.rsplit(' ').next().unwrap().to_owned()
    });
    let (business, actuator) = (urls.next().unwrap(), urls.next().unwrap());
    let _order = Service { child: order, url: business.clone() };
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for breaker in ["inventoryCb", "paymentServiceCb", "accountAccess", "accountRead"] {
        let opened = client
            .post(format!("{actuator}/circuitbreakers/{breaker}"))
            .bearer_auth("a-token-of-the-test")
            .json(&serde_json::json!({ "updateState": "FORCE_OPEN" }));
        assert_eq!(opened.send().await.unwrap().status(), 200);
    }
    let management = actuator.trim_end_matches("/actuator");
    for url in [&*business, management] {
        for path in ["livez", "readyz"] {
            let answer = client.get(format!("{url}/{path}")).send().await.unwrap();
            assert_eq!(answer.status(), 200, "{url}/{path}");
        }
    }
    let orders = client.get(format!("{management}/products")).send().await.unwrap();
    assert_eq!(orders.status(), 404, "customers have a port of their own");
}

#[test]
fn no_service_needs_an_argument() {
    for (service, port) in [
        ("order", 8080),
        ("inventory", 8081),
        ("payment", 8082),
        ("pg", 8083),
        ("account", 8084),
        ("mail", 8085),
    ] {
        let output = Command::new(binary(service)).arg("--help").output().unwrap();
        let help = String::from_utf8_lossy(&output.stdout);
        assert!(help.contains(&format!("Usage: {service} [OPTIONS]\n")), "{help}");
        assert!(help.contains(&format!("[default: {port}]")), "{help}");
    }
}

#[test]
fn the_demos_help_tells_the_scenes_and_how_long_they_take() {
    let output = Command::new(env!("CARGO_BIN_EXE_demo")).args(["--help"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8_lossy(&output.stdout);
    for part in [
        "  1  all is well",
        "  2  the payment provider takes 5 s",
        "  3  it recovers",
        "  4  the inventory hangs",
        "  5  a rush of orders",
        "  6  the account service is down",
        "  8  three order processes share a limit",
        "about 35 s",
        "With --serve, orders go on afterwards",
        "ACTUATOR_TOKEN",
    ] {
        assert!(help.contains(part), "{part} is not in {help}");
    }
}

#[tokio::test]
async fn the_demo_is_watched_live_and_goes_on_after_its_scenes_until_it_is_told_to_end() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_demo"))
        .args(["--scene", "1", "--serve", "0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(demo.stderr.take().unwrap()).lines().map(Result::unwrap);
    let watch = log.find_map(|line| {
        let url = line.strip_prefix("Watch it live at ")?.split(';').next()?;
        Some(url.to_owned())
    });
    let mut demo = Service { child: demo, url: watch.unwrap() };
    log.find(|line| line.contains("until ctrl-c")).unwrap();

    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let permitted = async || {
        let instances = client.get(format!("{}/instances", demo.url)).send().await.unwrap();
        let instances: Value = instances.json().await.unwrap();
        let limiters = instances["rateLimiters"].as_array().unwrap();
        let entrance = limiters.iter().find(|limiter| limiter["name"] == "orderRl").unwrap();
        entrance["permitted"].as_u64().unwrap()
    };
    let in_the_scenes = permitted().await;
    assert_ne!(in_the_scenes, 0);
    until("orders go on", async || permitted().await > in_the_scenes).await;
    demo.signal("-INT");
    assert_eq!(demo.child.wait().unwrap().code(), Some(0));
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
    assert!(message.contains("the scenes are 1, 2, 3, 4, 5, 6"), "{message}");
}

#[test]
fn scene_8_keeps_its_promises_with_three_order_processes() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_demo")).args(["--scene", "8", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    let scene = &report["scenes"][0];
    assert_eq!(
        scene["not_run"],
        Value::Null,
        "this test needs redis-server, as scripts/test installs"
    );
    assert!(scene["promises"].as_array().unwrap().len() > 5, "{report:#}");
}

#[test]
fn without_a_redis_server_scene_8_is_not_run_says_how_to_install_one_and_breaks_no_promise() {
    let demo = |arguments: &[&str]| {
        let demo = Command::new(env!("CARGO_BIN_EXE_demo"))
            .args(["--scene", "8"])
            .args(arguments)
            .env("PATH", "/nowhere")
            .output()
            .unwrap();
        assert_eq!(demo.status.code(), Some(0), "{demo:?}");
        String::from_utf8(demo.stdout).unwrap()
    };
    let report: Value = serde_json::from_str(&demo(&["--json"])).unwrap();
    let why = report["scenes"][0]["not_run"].as_str().unwrap();
    assert!(why.contains("apt-get install redis-server"), "{why}");
    let told = demo(&[]);
    for part in [why, "scene 8 was NOT RUN"] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
}
