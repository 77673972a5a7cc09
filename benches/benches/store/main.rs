//! How many decisions a second a limit makes that processes share, beside the plainest way to count in
//! the same server. It starts a `redis-server` of its own, and exits with 1 where there is none.

use std::{process::ExitCode, time::Duration};

use redis::aio::MultiplexedConnection;
use resilience::{
    RateLimiter, RateLimiterConfig,
    rate_limiter::{Algorithm, OnStoreFailure, Scope},
    store::{Store, StoreConfig},
};
use resilience_bench::{machine, versions};

use load::{Measured, load};
use server::{PROGRAM, Server};

mod load;
mod server;

/// Callers at the same time: one that waits for each answer, and many that share a connection.
const CALLERS: [usize; 2] = [1, 64];
/// More than any server admits within the period.
const LIMIT: u32 = 1_000_000_000;
const PERIOD: Duration = Duration::from_hours(1);
/// Each row is measured so often, between the others, and the middle one is taken: a neighbour that is
/// busy for a second must not fall on one row alone.
const ROUNDS: usize = 5;

/// What counts a call.
#[derive(Clone)]
enum Counter {
    Bare(MultiplexedConnection),
    Ours(RateLimiter),
}

/// Who is measured, with how many callers, and what came out in each round.
struct Row {
    name: String,
    counter: Counter,
    callers: usize,
    rounds: Vec<Measured>,
}

fn main() -> ExitCode {
    let server = match Server::start() {
        Ok(server) => server,
        Err(error) => {
            eprintln!("no {PROGRAM} of its own: {error}; `apt-get install {PROGRAM}` brings it");
            return ExitCode::FAILURE;
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let rows = runtime.expect("a runtime").block_on(measure(&server.url()));
    println!("{}, {}.\n", machine::description(), Server::version());
    println!("| counted by | callers | calls/s | p50 | p99 |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for mut row in rows {
        row.rounds.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
        let Measured { per_second, p50, p99 } = row.rounds[ROUNDS / 2];
        let Row { name, callers, .. } = row;
        println!("| {name} | {callers} | {per_second:.0} | {} | {} |", micros(p50), micros(p99));
    }
    ExitCode::SUCCESS
}

async fn measure(url: &str) -> Vec<Row> {
    let mut counters =
        vec![(format!("{}, INCR and EXPIRE", versions::of("redis")), bare(url).await)];
    for (algorithm, name) in [(Algorithm::FixedWindow, "fixed_window"), (Algorithm::Gcra, "gcra")] {
        for lease in [1, 20] {
            let name = format!("resilience, `{name}`, lease {lease}");
            counters.push((name, Counter::Ours(limiter(url, algorithm, lease))));
        }
    }
    let row = |callers, (name, counter): &(String, Counter)| Row {
        name: name.clone(),
        counter: counter.clone(),
        callers,
        rounds: Vec::new(),
    };
    let rows = CALLERS.iter().flat_map(|callers| counters.iter().map(move |c| row(*callers, c)));
    let mut rows: Vec<_> = rows.collect();
    for _ in 0..ROUNDS {
        for Row { counter, callers, rounds, .. } in &mut rows {
            let counter = counter.clone();
            let count = move || {
                let mut counter = counter.clone();
                async move { counter.count().await }
            };
            rounds.push(load(*callers, count).await);
        }
    }
    rows
}

impl Counter {
    async fn count(&mut self) {
        match self {
            // One round trip with two commands, as it is written by hand: nothing is decided, and a
            // key whose server stops between the two never expires.
            Self::Bare(connection) => {
                let mut commands = redis::pipe();
                commands.incr("bare", 1).ignore().expire("bare", 2).ignore();
                commands.exec_async(connection).await.expect("the server is there");
            }
            Self::Ours(limiter) => limiter.acquire(1).await.expect("the limit is high"),
        }
    }
}

async fn bare(url: &str) -> Counter {
    let client = redis::Client::open(url).expect("an address");
    let connection = client.get_multiplexed_async_connection().await;
    Counter::Bare(connection.expect("a connection"))
}

fn limiter(url: &str, algorithm: Algorithm, lease: u32) -> RateLimiter {
    // Each has a store, and so a connection, of its own, as the bare one has.
    let store = StoreConfig::builder([url], "bench").decision_timeout(Duration::from_secs(5));
    let store = Store::open(store.build().expect("in range")).expect("a thread");
    let config = RateLimiterConfig::builder()
        .limit_for_period(LIMIT)
        .limit_refresh_period(PERIOD)
        .scope(Scope::Global)
        .algorithm(algorithm)
        .lease(lease)
        .on_store_failure(OnStoreFailure::Closed);
    let config = config.build().expect("in range");
    RateLimiter::with_store("store", config, &store)
}

fn micros(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}
