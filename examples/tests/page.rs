//! The live page in a real browser, against the running system.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

use std::{
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use examples::faults::FaultPlan;
use resilience::{
    Clock, Config, Resilience,
    actuator::Actuator,
    circuit_breaker::{CircuitBreakerEventKind, State},
    config::Format,
};
use serde_json::json;
use support::{
    World, book,
    browser::Page,
    proxy::Proxy,
    watched::{LIVE, Watched, registry_with, row, shows},
};

const TOKEN: &str = "the-token-of-the-tests";

/// What the server and the browser are given to show a change.
const SHOWN_WITHIN_MS: f64 = 1_000.0;

async fn watched_system() -> (World, Watched) {
    let world = World::start(&[]).await;
    let watched = Watched::new(Actuator::new(&world.registry).token(TOKEN).unwrap()).await;
    (world, watched)
}

/// Milliseconds since 1970, as the page's clock has them.
fn now_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1_000.0
}

#[tokio::test]
async fn every_instance_of_the_running_system_is_shown() {
    let (_world, watched) = watched_system().await;
    for name in
        ["orderRl", "orderGlobalRl", "inventoryBh", "paymentTl", "paymentServiceTl", "reconnect"]
    {
        watched.page.until(&row(name)).await;
    }
    for name in ["paymentCb", "paymentServiceCb", "inventoryCb"] {
        watched.page.until(&shows(name, "CLOSED")).await;
        let reading = format!("{}.querySelector('.reading').innerText", row(name));
        let reading = watched.page.evaluate(&reading).await;
        assert!(reading.as_str().unwrap().starts_with('–'), "{reading} of no call");
    }
    watched
        .page
        .until("document.querySelector('#summary').innerText.startsWith('30 instances')")
        .await;
    assert_eq!(watched.page.complaints(), [""; 0]);
}

#[tokio::test]
async fn a_breaker_that_opens_under_failing_calls_is_shown_open_within_a_second() {
    let (world, watched) = watched_system().await;
    let (sender, opened) = std::sync::mpsc::channel();
    let breaker = world.registry.circuit_breaker("paymentCb");
    let _subscription = breaker.events().subscribe(move |event| {
        if matches!(event.kind, CircuitBreakerEventKind::StateTransition { to: State::Open, .. }) {
            let _ = sender.send(now_ms());
        }
    });
    let look = format!(
        "window.seen = new Promise(seen => new MutationObserver(() => {{ \
         if ({}) requestAnimationFrame(() => seen(Date.now())); \
         }}).observe(document.body, {{ subtree: true, childList: true, attributes: true }})); 0",
        shows("paymentCb", "OPEN")
    );
    world.provider_faults(FaultPlan { error_rate: 1.0, ..FaultPlan::default() }).await;
    // A busy machine may be slow once; a page that is slow is so every time.
    let mut took = Vec::new();
    for round in 0..5 {
        breaker.reset();
        watched.page.until(&shows("paymentCb", "CLOSED")).await;
        watched.page.evaluate(&look).await;
        for user in 0..5 {
            world.order(&book(5 * round + user)).await;
        }
        let opened = opened.try_recv().expect("five failures open it");
        took.push(watched.page.evaluate("window.seen").await.as_f64().unwrap() - opened);
        if took[took.len() - 1] < SHOWN_WITHIN_MS {
            break;
        }
    }
    assert!(took[took.len() - 1] < SHOWN_WITHIN_MS, "{took:?} ms");

    let entry = "document.querySelector('#timeline li').innerText";
    let entry = watched.page.evaluate(entry).await;
    for part in ["paymentCb", "closed", "open", "failures 100.0 %"] {
        assert!(entry.as_str().unwrap().contains(part), "{part} is not in {entry}");
    }
    watched
        .page
        .until("document.querySelector('#announcement').innerText === 'paymentCb: closed to open'")
        .await;
    watched.page.until(&format!("{}.innerText.includes('probe in')", row("paymentCb"))).await;
    assert_eq!(watched.page.complaints(), [""; 0]);
}

#[tokio::test]
async fn a_breaker_is_forced_open_by_keyboard_with_the_right_token_only() {
    let (_world, watched) = watched_system().await;
    let page = &watched.page;
    open_menu_by_keyboard(page, "paymentCb").await;
    page.press("Escape").await;
    page.until("document.activeElement.ariaLabel === 'Change paymentCb'").await;
    page.press("Enter").await;
    page.until("document.activeElement.textContent === 'Close'").await;
    page.press("ArrowDown").await;
    page.until("document.activeElement.textContent === 'Force open'").await;
    page.press("Enter").await;
    page.until("document.querySelector('#confirm').open && document.activeElement.id === 'token'")
        .await;
    let says = page.evaluate("document.querySelector('#confirm').innerText").await;
    assert!(says.as_str().unwrap().contains("Every call is refused"), "{says}");

    page.write("a wrong token").await;
    page.press("Enter").await;
    page.until("document.querySelector('#confirm-error').innerText.includes('token is wrong')")
        .await;
    assert_eq!(watched.state_on_the_server("paymentCb").await, "CLOSED");
    assert_eq!(page.evaluate("document.querySelector('#confirm').open").await, true);

    // The wrong one is selected: what is typed takes its place.
    page.write(TOKEN).await;
    page.press("Enter").await;
    page.until("!document.querySelector('#confirm').open").await;
    assert_eq!(watched.state_on_the_server("paymentCb").await, "FORCED_OPEN");
    page.until(&shows("paymentCb", "FORCED_OPEN")).await;
    page.until("document.activeElement.ariaLabel === 'Change paymentCb'").await;

    let kept = "JSON.stringify([location.href, Object.entries(localStorage), \
                Object.entries(sessionStorage), document.cookie, document.body.outerHTML])";
    let kept = page.evaluate(kept).await;
    assert!(!kept.as_str().unwrap().contains(TOKEN), "the token is kept in memory only");
    let complaints = page.complaints();
    assert!(complaints.len() == 1 && complaints[0].contains("401"), "{complaints:?}");
}

#[tokio::test]
async fn without_a_token_on_the_server_the_menu_says_that_nothing_can_be_changed() {
    let registry = registry_with(["paymentCb".to_owned()]);
    let watched = Watched::new(Actuator::new(&registry)).await;
    watched.page.until(&row("paymentCb")).await;
    watched.page.evaluate("document.querySelector('.more').click()").await;
    watched.page.until("document.querySelector('#menu').innerText.includes('no token')").await;
    let told = "document.activeElement.role === 'menuitem' && document.activeElement.ariaDisabled === 'true' \
                && document.querySelectorAll('#menu > *').length === 1";
    watched.page.until(told).await;
    watched.page.press("Enter").await;
    assert_eq!(watched.page.evaluate("document.querySelector('#confirm').open").await, false);
    watched.page.press("/").await;
    assert_eq!(watched.page.evaluate(told).await, true, "the menu keeps the focus");
    watched.page.press("Escape").await;
    watched.page.until("document.activeElement.ariaLabel === 'Change paymentCb'").await;
    assert_eq!(watched.page.complaints(), [""; 0]);
}

#[tokio::test]
async fn what_is_in_trouble_comes_first_and_filter_and_order_are_kept_in_the_address() {
    let registry = registry_with(["alpha", "beta", "gamma"].map(String::from));
    registry.circuit_breaker("gamma").transition_to(State::Open).unwrap();
    registry.circuit_breaker("beta").on_success(Duration::ZERO);
    let watched = Watched::new(Actuator::new(&registry)).await;
    watched.page.until(&shows("gamma", "OPEN")).await;
    assert_eq!(watched.breakers().await, ["gamma", "alpha", "beta"]);

    let choose = |id: &str, value: &str| {
        format!(
            "document.querySelector('#{id}').value = '{value}'; \
             document.querySelector('#{id}').dispatchEvent(new Event('input'))"
        )
    };
    watched.page.evaluate(&choose("sort", "name")).await;
    watched.page.until("location.hash === '#sort=name'").await;
    watched.page.until(&format!("!{}.previousElementSibling", row("alpha"))).await;
    assert_eq!(watched.breakers().await, ["alpha", "beta", "gamma"]);

    watched.page.evaluate(&choose("state", "OPEN")).await;
    watched.page.until("document.querySelectorAll('tbody tr').length === 1").await;
    assert_eq!(watched.breakers().await, ["gamma"]);

    watched.open("?again#q=A&sort=name").await;
    watched.page.until(&row("gamma")).await;
    assert_eq!(watched.breakers().await, ["alpha", "beta", "gamma"]);
    watched.open("?once-more#q=ALPH").await;
    watched.page.until(&row("alpha")).await;
    assert_eq!(watched.breakers().await, ["alpha"]);
    assert_eq!(watched.page.complaints(), [""; 0]);
}

#[tokio::test]
async fn values_are_marked_stale_when_the_process_dies_and_live_again_when_it_is_back() {
    let order = OrderProcess::start("0");
    let page = Page::new(1280, 900).await;
    page.open(&order.url).await;
    page.until(LIVE).await;
    page.until(&row("orderRl")).await;

    let port = order.port();
    drop(order);
    let lost = "document.querySelector('#connection').innerText.includes('values are from') \
                && document.querySelector('#layout').classList.contains('stale')";
    page.until(lost).await;
    page.until(&row("orderRl")).await;

    let _order = OrderProcess::start(&port);
    page.until(LIVE).await;
    page.until("!document.querySelector('#layout').classList.contains('stale')").await;
    let complaints = page.complaints();
    assert!(complaints.iter().all(|complaint| complaint.contains("net::ERR_")), "{complaints:?}");
}

#[tokio::test]
async fn a_connection_that_is_dead_without_a_word_is_noticed_and_replaced() {
    let server = Actuator::new(&registry_with(["paymentCb".to_owned()])).bind("127.0.0.1:0").await;
    let server = server.unwrap();
    let proxy = Proxy::to(server.address()).await;
    let page = Page::new(1280, 900).await;
    page.open(&format!("http://{}/actuator", proxy.address)).await;
    page.until(&format!("{LIVE} && {}", row("paymentCb"))).await;
    // As from a server whose heart beats faster than this test has patience.
    proxy.silence_after("event: heartbeat\ndata: {\"everyMs\":100}\n\n");
    page.until("document.querySelector('#connection').innerText.includes('values are from')").await;
    page.until(LIVE).await;
    assert_eq!(page.complaints(), [""; 0]);
}

#[tokio::test]
async fn a_page_too_many_says_so_and_goes_on_when_there_is_room() {
    let server = Actuator::new(&registry_with([])).bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/actuator", server.address());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut streams = Vec::new();
    for _ in 0..64 {
        streams.push(client.get(format!("{url}/stream")).send().await.unwrap());
    }
    let page = Page::new(1280, 900).await;
    page.open(&url).await;
    page.until("document.querySelector('#connection').innerText.includes('too many streams')")
        .await;
    drop(streams);
    page.until(LIVE).await;
}

#[tokio::test]
async fn a_transition_tells_its_day_and_whether_it_is_a_keys() {
    // Noon of 2020-01-01 in UTC, so that it is that day nearly everywhere.
    let (clock, _hand) = Clock::manual(Duration::from_hours(438_300));
    let registry = Resilience::with_clock(Config::default(), clock).unwrap();
    let breaker = registry.circuit_breaker("payment");
    let watched = Watched::new(Actuator::new(&registry)).await;
    breaker.keyed("user-4711").transition_to(State::Open).unwrap();
    let entry = "document.querySelector('#timeline li').innerText";
    watched.page.until("document.querySelector('#timeline li')").await;
    let entry = watched.page.evaluate(entry).await;
    for part in ["payment (a key)", "1 Jan 2020"] {
        assert!(entry.as_str().unwrap().contains(part), "{part} is not in {entry}");
    }
    let title = watched.page.evaluate("document.querySelector('#timeline time').title").await;
    assert!(title.as_str().unwrap().contains("1 January 2020"), "{title}");
    assert_eq!(watched.page.complaints(), [""; 0]);
}

#[tokio::test]
async fn a_reader_who_types_fast_has_the_address_written_once() {
    let watched = Watched::new(Actuator::new(&registry_with([]))).await;
    let typed = "window.written = 0;
        const write = history.replaceState;
        history.replaceState = (...given) => { written += 1; write.apply(history, given); };
        const filter = document.querySelector('#filter');
        for (let times = 0; times < 200; times += 1) {
            filter.value = `text${times}`;
            filter.dispatchEvent(new Event('input'));
        }";
    watched.page.evaluate(&format!("(() => {{ {typed} }})()")).await;
    watched.page.until("location.hash === '#q=text199'").await;
    assert_eq!(watched.page.evaluate("written").await, 1);
}

/// The order service as a process with a management port.
struct OrderProcess {
    child: Child,
    url: String,
    /// Kept, as the process writes to it.
    _output: Lines<BufReader<ChildStdout>>,
}

impl OrderProcess {
    fn start(management_port: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_order"))
            .args(["--port", "0", "--management-port", management_port])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = output
            .find_map(|line| line.unwrap().strip_prefix("order manages on ").map(String::from));
        Self { child, url: line.unwrap(), _output: output }
    }

    fn port(&self) -> String {
        self.url.split([':', '/']).nth(4).unwrap().to_owned()
    }
}

impl Drop for OrderProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_removed_instance_goes_and_a_new_one_comes() {
    let registry = registry_with(["old".to_owned()]);
    let watched = Watched::new(Actuator::new(&registry)).await;
    watched.page.until(&row("old")).await;
    assert!(registry.remove("old"));
    registry.circuit_breaker("new");
    watched.page.until(&format!("{} && !{}", row("new"), row("old"))).await;
    assert_eq!(watched.page.complaints(), [""; 0]);
}

/// Goes to a breaker's button and opens its menu.
async fn open_menu_by_keyboard(page: &Page, breaker: &str) {
    page.press("/").await;
    page.until("document.activeElement.id === 'filter'").await;
    page.write(breaker).await;
    page.until("document.querySelectorAll('#circuitBreakers tbody tr').length === 1").await;
    let reached = format!("document.activeElement.ariaLabel === 'Change {breaker}'");
    for _ in 0..10 {
        if page.evaluate(&reached).await == json!(true) {
            break;
        }
        page.press("Tab").await;
    }
    page.until(&reached).await;
    page.press("Enter").await;
    page.until("document.activeElement.textContent === 'Close'").await;
}

#[tokio::test]
async fn the_numbers_of_every_pattern_are_those_of_the_instances() {
    let config = Config::builder().env(false).text(NUMBERS, Format::Yaml).load().unwrap();
    let registry = Resilience::from_config(config).unwrap();
    let breaker = registry.circuit_breaker("counting");
    breaker.on_error(Duration::ZERO, &["connect"]);
    for _ in 0..3 {
        breaker.on_success(Duration::ZERO);
    }
    let probed = registry.circuit_breaker("probed");
    probed.transition_to(State::Open).unwrap();
    probed.transition_to(State::HalfOpen).unwrap();
    probed.on_success(Duration::ZERO);
    registry.rate_limiter("limiter").try_acquire(4).unwrap();
    let _slots = [(); 2].map(|()| registry.bulkhead("bulkhead").try_acquire().unwrap());
    registry.thread_pool_bulkhead("pool").call(|| Ok::<_, ()>(())).await.unwrap();
    registry.time_limiter("time").call(async { Ok::<_, ()>(()) }).await.unwrap();
    registry.retry("retry").call_blocking(|| Err::<(), _>(())).unwrap_err();
    registry.time_limiter("off").set_enabled(false);

    let watched = Watched::new(Actuator::new(&registry)).await;
    for (name, shown) in [
        ("counting", "closed counting 25.0 % of 60 % 0.0 % of 100 % 4 / 10 min 4 0"),
        ("probed", "half-open probed – of 60 % – of 100 % 1 / 3 probes 0"),
        ("limiter", "limiter 6 / 10 per 3,600 s 0 1 0"),
        ("bulkhead", "bulkhead 2 / 5 0 2 0"),
        ("time", "time 1.5 s 1 0 0"),
        ("retry", "retry 1 0 0 1 max 2"),
        ("off", "offoff 1.5 s 0 0 0"),
    ] {
        let text =
            format!("{}?.innerText.replace(/\\s+/g, ' ').startsWith({})", row(name), json!(shown));
        watched.page.until(&text).await;
    }
    watched.page.until(&format!("{}.innerText.includes('0 / 7')", row("pool"))).await;
    let meter = format!("{}.querySelector('[role=meter]')", row("counting"));
    let meter = format!("[{meter}.ariaLabel, {meter}.ariaValueNow, {meter}.ariaValueText]");
    let told = json!(["Failure rate", "25", "25.0 %, threshold 60 %, 1 of 4 calls"]);
    assert_eq!(watched.page.evaluate(&meter).await, told);
    assert_eq!(watched.page.complaints(), [""; 0]);
}

const NUMBERS: &str = "
circuitbreaker:
  configs:
    default:
      sliding_window_size: 10
      minimum_number_of_calls: 4
      failure_rate_threshold: 60
      permitted_number_of_calls_in_half_open_state: 3
ratelimiter.instances.limiter: { limit_for_period: 10, limit_refresh_period: 1h }
bulkhead.instances.bulkhead: { max_concurrent_calls: 5 }
thread-pool-bulkhead.instances.pool: { core_thread_pool_size: 1, max_thread_pool_size: 2, queue_capacity: 7 }
timelimiter.configs.default: { timeout_duration: 1500ms }
retry.instances.retry: { max_attempts: 2, wait_duration: 1ms }
";
