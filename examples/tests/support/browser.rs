//! A real browser with one page, driven over its debugging protocol.
//!
//! The protocol runs over a pair of pipes and not over a port: nothing else can connect to it, no
//! crate is needed for it, and the browser ends by itself when this process is gone.

#![allow(dead_code, reason = "every test file uses another part of it")]
#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::{
    collections::HashMap,
    env,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout},
    sync::oneshot,
    time::{Instant, timeout},
};

/// Only there for a test that fails; a busy machine may take seconds to start a browser.
const PATIENCE: Duration = Duration::from_secs(30);

/// Commands come in at 3 and answers go out at 4: where the browser wants its pipes.
const WITH_PIPES: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>&2"#;

/// What is tried when `CHROME` names no browser.
const BROWSERS: [&str; 3] = ["google-chrome", "chromium", "chromium-browser"];

/// A page in a browser of its own, which is killed with it.
pub(crate) struct Page {
    browser: Child,
    _profile: TempDir,
    commands: tokio::sync::Mutex<ChildStdin>,
    answers: Answers,
    last: AtomicU64,
    complaints: Arc<Mutex<Vec<String>>>,
    session: String,
}

/// Who waits for the answer to which command.
type Answers = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

impl Page {
    /// Starts a browser with an empty page of this size.
    pub(crate) async fn new(width: u32, height: u32) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut browser = start_browser(&profile);
        let commands = tokio::sync::Mutex::new(browser.stdin.take().unwrap());
        let (answers, complaints) = (Answers::default(), Arc::default());
        let output = browser.stdout.take().unwrap();
        tokio::spawn(read(output, Arc::clone(&answers), Arc::clone(&complaints)));
        let mut page = Self {
            browser,
            _profile: profile,
            commands,
            answers,
            last: AtomicU64::new(0),
            complaints,
            session: String::new(),
        };
        let target = page.command("Target.createTarget", json!({ "url": "about:blank" })).await;
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = page.command("Target.attachToTarget", target).await;
        page.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            page.command(&format!("{domain}.enable"), json!({})).await;
        }
        // The processor's time, not the wall's: other tests run beside.
        page.command("Performance.enable", json!({ "timeDomain": "threadTicks" })).await;
        page.resize(width, height).await;
        page
    }

    /// Goes to `url` and returns when its scripts have run.
    pub(crate) async fn open(&self, url: &str) {
        let answer = self.command("Page.navigate", json!({ "url": url })).await;
        assert_eq!(answer.get("errorText"), None, "{url}");
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'").await;
    }

    pub(crate) async fn resize(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Has the page believe that its reader prefers `light` or `dark`.
    pub(crate) async fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.command("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// The value of an expression, awaited if it is a promise.
    pub(crate) async fn evaluate(&self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.command("Runtime.evaluate", parameters).await;
        assert_eq!(answer.get("exceptionDetails"), None, "{expression}");
        answer["result"]["value"].take()
    }

    /// Looks until an expression is true.
    pub(crate) async fn until(&self, expression: &str) {
        let start = Instant::now();
        // The navigation that is under way may take the page away beneath the expression.
        while self.evaluate(&format!("Boolean({expression})")).await != json!(true) {
            if start.elapsed() > PATIENCE {
                let text = self.evaluate("document.body.innerText").await;
                panic!("waited in vain until {expression}; {:?}; {text}", self.complaints());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Presses a key by its name, such as `Tab`, `Enter` or `/`.
    pub(crate) async fn press(&self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "ArrowDown" => (40, ""),
            "ArrowUp" => (38, ""),
            "/" => (191, "/"),
            _ => panic!("the code of {key} is not known here"),
        };
        let event = |kind| json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
        let mut down = event("keyDown");
        if !text.is_empty() {
            down["text"] = json!(text);
        }
        self.command("Input.dispatchKeyEvent", down).await;
        self.command("Input.dispatchKeyEvent", event("keyUp")).await;
    }

    /// Types a text where the focus is.
    pub(crate) async fn write(&self, text: &str) {
        self.command("Input.insertText", json!({ "text": text })).await;
    }

    /// How much time of a processor the page has taken so far for scripts, styles, layout and paint.
    pub(crate) async fn busy(&self) -> Duration {
        let metrics = self.command("Performance.getMetrics", json!({})).await;
        let metrics = metrics["metrics"].as_array().unwrap();
        let busy = metrics.iter().find(|metric| metric["name"] == "TaskDuration").unwrap();
        Duration::from_secs_f64(busy["value"].as_f64().unwrap())
    }

    /// A PNG of what is seen.
    pub(crate) async fn picture(&self) -> Vec<u8> {
        let picture = self.command("Page.captureScreenshot", json!({ "format": "png" })).await;
        BASE64_STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()
    }

    /// Errors on the console, exceptions that nobody caught, and breaches of the security policy.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.complaints.lock().unwrap().clone()
    }

    async fn command(&self, method: &str, parameters: Value) -> Value {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        let (sender, answer) = oneshot::channel();
        self.answers.lock().unwrap().insert(id, sender);
        self.commands.lock().await.write_all(&bytes).await.unwrap();
        let answer = timeout(PATIENCE, answer).await.expect("the browser answers");
        let mut answer = answer.expect("the browser runs");
        assert_eq!(answer.get("error"), None, "{method}");
        answer["result"].take()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // The whole group, as a browser is many processes.
        if let Some(id) = self.browser.id() {
            let _ = Command::new("kill").args(["-KILL", "--", &format!("-{id}")]).status();
        }
    }
}

fn start_browser(profile: &TempDir) -> Child {
    let mut command = Command::new("sh");
    command
        .args(["-c", WITH_PIPES, &browser_command(), "--headless=new", "--remote-debugging-pipe"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args([
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-gpu",
            "--no-proxy-server",
        ])
        .args(["--disable-breakpad", "--disable-dev-shm-usage", "--hide-scrollbars", "--lang=en"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if is_root() {
        // Its sandbox does not work for root; the only page it sees is ours.
        command.arg("--no-sandbox");
    }
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    tokio::process::Command::from(command).kill_on_drop(true).spawn().unwrap()
}

fn browser_command() -> String {
    if let Ok(browser) = env::var("CHROME") {
        return browser;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| env::split_paths(&path).any(|dir| dir.join(name).is_file());
    let found = BROWSERS.into_iter().find(is_there);
    found.unwrap_or_else(|| panic!("no browser: set CHROME or install one of {BROWSERS:?}")).into()
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

/// Hands on answers and keeps complaints until the browser is gone.
async fn read(output: ChildStdout, answers: Answers, complaints: Arc<Mutex<Vec<String>>>) {
    let mut messages = BufReader::new(output).split(0);
    while let Ok(Some(message)) = messages.next_segment().await {
        let message: Value = serde_json::from_slice(&message).unwrap();
        if let Some(id) = message["id"].as_u64() {
            if let Some(waiting) = answers.lock().unwrap().remove(&id) {
                let _ = waiting.send(message);
            }
        } else if let Some(complaint) = complaint(&message) {
            complaints.lock().unwrap().push(complaint);
        }
    }
    // Whoever waits for an answer is told that none will come.
    answers.lock().unwrap().clear();
}

fn complaint(event: &Value) -> Option<String> {
    let parameters = &event["params"];
    let told = match event["method"].as_str()? {
        "Runtime.exceptionThrown" => &parameters["exceptionDetails"],
        "Log.entryAdded" if parameters["entry"]["level"] == "error" => &parameters["entry"],
        "Runtime.consoleAPICalled" if parameters["type"] == "error" => &parameters["args"],
        _ => return None,
    };
    Some(told.to_string())
}
