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
use server::Server;

mod load;
mod server;

/// Callers at the same time: one that waits for each answer, and many that share a connection.
const CALLERS: [usize; 2] = [1, 64];
/// More than any server admits within the period.
const LIMIT: u32 = 1_000_000_000;
const PERIOD: Duration = Duration::from_hours(1);

fn main() -> ExitCode {
    let server = match Server::start() {
        Ok(server) => server,
        Err(error) => {
            eprintln!(
                "no redis-server of its own: {error}; `apt-get install redis-server` brings it"
            );
            return ExitCode::FAILURE;
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let measured = runtime.expect("a runtime").block_on(measure(&server.url()));
    println!("{}, {}.\n", machine::description(), Server::version());
    println!("| decision by | callers | decisions/s | p50 | p99 |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for (name, callers, Measured { per_second, p50, p99 }) in measured {
        println!("| {name} | {callers} | {per_second:.0} | {} | {} |", micros(p50), micros(p99));
    }
    ExitCode::SUCCESS
}

async fn measure(url: &str) -> Vec<(String, usize, Measured)> {
    let client = redis::Client::open(url).expect("an address");
    let connection = client.get_multiplexed_async_connection().await.expect("a connection");
    let mut measured = Vec::new();
    for callers in CALLERS {
        let connection = connection.clone();
        let bare = load(callers, move || {
            let mut connection = connection.clone();
            async move { count(&mut connection).await }
        });
        let name = format!("{}, INCR and EXPIRE", versions::of("redis"));
        measured.push((name, callers, bare.await));
        for (algorithm, name) in
            [(Algorithm::FixedWindow, "fixed_window"), (Algorithm::Gcra, "gcra")]
        {
            for lease in [1, 20] {
                let limiter = limiter(url, algorithm, lease);
                let ours = load(callers, move || {
                    let limiter = limiter.clone();
                    async move { limiter.acquire(1).await.expect("the limit is high") }
                });
                let name = format!("resilience, `{name}`, lease {lease}");
                measured.push((name, callers, ours.await));
            }
        }
    }
    measured
}

/// One round trip with two commands, as it is written by hand: nothing is decided, and nothing is safe
/// from a crash between the two.
async fn count(connection: &mut MultiplexedConnection) {
    let mut commands = redis::pipe();
    commands.incr("bare", 1).ignore().expire("bare", 2).ignore();
    commands.exec_async(connection).await.expect("the server is there");
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
