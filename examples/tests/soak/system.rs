//! The whole system as separate processes, two of them order services that share a database and a
//! Redis, and two providers.

use std::{
    collections::BTreeMap,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::Arc,
};

use examples::{faults::FaultPlan, redis_server::RedisServer};
use parking_lot::Mutex;
use reqwest::Client;
use serde_json::json;

use crate::{
    gate::Gate,
    process::Process,
    schedule::{Target, Trouble},
};

/// Longer than anybody waits.
const NEVER_MS: u64 = 60_000;

/// The processes that are there, by the names of their services.
pub(crate) type Ids = Arc<Mutex<BTreeMap<&'static str, u32>>>;

/// What a trouble can come to.
pub(crate) enum Part {
    Service { process: Box<Process>, gate: Option<Gate>, ids: Ids },
    Redis(RedisServer),
}

/// Where others find the system.
#[derive(Debug, Clone)]
pub(crate) struct Urls {
    pub(crate) orders: [String; 2],
    /// Past the gates, so that ledgers can be read and switches be turned at any time.
    pub(crate) providers: [String; 2],
    pub(crate) mails: String,
    pub(crate) redis: String,
}

/// All parts, and where their databases and logs are.
pub(crate) struct System {
    pub(crate) parts: Vec<(Target, Part)>,
    pub(crate) urls: Urls,
    pub(crate) ids: Ids,
    pub(crate) folder: PathBuf,
}

impl System {
    /// Starts it with its files in this folder.
    pub(crate) async fn start(folder: &Path) -> Self {
        let ids = Ids::default();
        let [order_1, order_2, payment, inventory, account, mail, gate_1, gate_2] = free_ports();
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let database = |service: &str| folder.join(format!("{service}.db")).display().to_string();
        let redis = RedisServer::start().await.expect("a Redis");
        let redis_url = redis.url();

        let start = async |target: Target, program, port: u16, arguments: &[(&str, &str)]| {
            let port = port.to_string();
            let arguments = [&[("--port", &*port)], arguments].concat();
            let process = Process::start(target.name(), program, &arguments, folder).await;
            ids.lock().insert(process.name, process.id());
            process
        };
        let [order_url, other_order_url, payment_url, inventory_url, account_url] =
            [order_1, order_2, payment, inventory, account].map(url);
        let provider = async |target, port| {
            let callbacks = [("--callback-url", &*order_url)];
            let process = start(target, env!("CARGO_BIN_EXE_pg"), 0, &callbacks).await;
            let server = process.url().trim_start_matches("http://").parse().unwrap();
            (process, Gate::open(port, server).await)
        };
        let (pg_1, gate_1) = provider(Target::FirstProvider, gate_1).await;
        let (pg_2, gate_2) = provider(Target::SecondProvider, gate_2).await;
        let urls = Urls {
            orders: [order_url.clone(), other_order_url],
            providers: [pg_1.url().to_owned(), pg_2.url().to_owned()],
            mails: url(mail),
            redis: redis_url.clone(),
        };
        let accounts = start(Target::Account, env!("CARGO_BIN_EXE_account"), account, &[]).await;
        let mails = start(Target::Mail, env!("CARGO_BIN_EXE_mail"), mail, &[]).await;
        let mail_url = mails.url().to_owned();
        let [order_db, payment_db, inventory_db] = ["order", "payment", "inventory"].map(database);
        let arguments = [("--account-url", &*account_url), ("--database", &inventory_db)];
        let program = env!("CARGO_BIN_EXE_inventory");
        let stock = start(Target::Inventory, program, inventory, &arguments).await;
        let (provider_url, second_provider_url) = (gate_1.url(), gate_2.url());
        let arguments = [
            ("--account-url", &*account_url),
            ("--provider-url", &provider_url),
            ("--second-provider-url", &second_provider_url),
            ("--database", &payment_db),
            ("--settle-every", "1"),
            // A charge takes two attempts of two seconds at most.
            ("--abandoned-after", "6"),
        ];
        let program = env!("CARGO_BIN_EXE_payment");
        let payments = start(Target::Payment, program, payment, &arguments).await;
        let arguments = [
            ("--account-url", &*account_url),
            ("--inventory-url", &inventory_url),
            ("--payment-url", &payment_url),
            ("--mail-url", &mail_url),
            ("--redis", &redis_url),
            ("--database", &order_db),
            ("--settle-every", "1"),
            // What was told to stand has to be there at the end, however long the run is.
            ("--withdraw-after", "86400"),
        ];
        let program = env!("CARGO_BIN_EXE_order");
        let first = start(Target::FirstOrder, program, order_1, &arguments).await;
        let second = start(Target::SecondOrder, program, order_2, &arguments).await;

        let service = |process, gate| Part::Service {
            process: Box::new(process),
            gate,
            ids: Arc::clone(&ids),
        };
        let parts = vec![
            (Target::FirstOrder, service(first, None)),
            (Target::SecondOrder, service(second, None)),
            (Target::Payment, service(payments, None)),
            (Target::Inventory, service(stock, None)),
            (Target::Account, service(accounts, None)),
            (Target::Mail, service(mails, None)),
            (Target::FirstProvider, service(pg_1, Some(gate_1))),
            (Target::SecondProvider, service(pg_2, Some(gate_2))),
            (Target::Redis, Part::Redis(redis)),
        ];
        Self { parts, urls, ids, folder: folder.to_owned() }
    }

    pub(crate) fn processes(&mut self) -> impl Iterator<Item = &mut Process> {
        self.parts.iter_mut().filter_map(|(_, part)| match part {
            Part::Service { process, .. } => Some(&mut **process),
            Part::Redis(_) => None,
        })
    }

    pub(crate) fn database(&self, service: &str) -> PathBuf {
        self.folder.join(format!("{service}.db"))
    }
}

impl Part {
    /// Lets a trouble come to it.
    pub(crate) async fn begin(&mut self, client: &Client, trouble: Trouble) {
        match self {
            Self::Redis(redis) => match trouble {
                Trouble::Kill => redis.kill().await.unwrap(),
                Trouble::StandStill => redis.stand_still().await.unwrap(),
                _ => unreachable!("{trouble:?}"),
            },
            Self::Service { process, gate, ids } => match trouble {
                Trouble::Kill | Trouble::Restart => {
                    // No one else may be taken for it.
                    ids.lock().remove(process.name);
                    if trouble == Trouble::Kill {
                        process.kill().await;
                    } else {
                        process.terminate().await;
                    }
                }
                Trouble::StandStill => process.stand_still(),
                Trouble::Refuse => gate.as_mut().expect("it has a gate").close().await,
                Trouble::Delay { ms } => {
                    switch(client, process, FaultPlan { delay_ms: ms, ..FaultPlan::HEALTHY }).await;
                }
                Trouble::Hang => {
                    switch(client, process, FaultPlan { delay_ms: NEVER_MS, ..FaultPlan::HEALTHY })
                        .await;
                }
                Trouble::Errors { percent } => {
                    let error_rate = f64::from(percent) / 100.0;
                    switch(client, process, FaultPlan { error_rate, ..FaultPlan::HEALTHY }).await;
                }
                Trouble::Drops { percent } => {
                    let drop_rate = f64::from(percent) / 100.0;
                    switch(client, process, FaultPlan { drop_rate, ..FaultPlan::HEALTHY }).await;
                }
            },
        }
    }

    /// Ends it.
    pub(crate) async fn end(&mut self, client: &Client, trouble: Trouble) {
        match self {
            Self::Redis(redis) => match trouble {
                Trouble::Kill => redis.restart().await.unwrap(),
                _ => redis.go_on().await.unwrap(),
            },
            Self::Service { process, gate, ids } => match trouble {
                Trouble::Kill | Trouble::Restart => {
                    process.come_back().await;
                    ids.lock().insert(process.name, process.id());
                }
                Trouble::StandStill => process.go_on().await,
                Trouble::Refuse => gate.as_mut().expect("it has a gate").reopen().await,
                Trouble::Delay { .. }
                | Trouble::Hang
                | Trouble::Errors { .. }
                | Trouble::Drops { .. } => switch(client, process, FaultPlan::HEALTHY).await,
            },
        }
    }
}

async fn switch(client: &Client, process: &Process, plan: FaultPlan) {
    let switched = client.put(format!("{}/faults", process.url())).json(&json!(plan)).send().await;
    assert_eq!(switched.unwrap().status(), 200);
}

/// Ports that are free and stay so while their process is away: below those that the system gives to
/// clients.
fn free_ports<const N: usize>() -> [u16; N] {
    let mut held = Vec::new();
    let ports = std::array::from_fn(|_| {
        loop {
            let port = fastrand::u16(20_000..32_768);
            if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
                held.push(listener); // so that no two are the same
                return port;
            }
        }
    });
    drop(held);
    ports
}
