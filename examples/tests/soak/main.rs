//! A load and fault soak: real processes under mixed traffic while their parts fail at random, and all
//! books compared at the end.
//!
//! `SOAK_SEED` brings the troubles of an earlier run again, `SOAK_SECONDS` has them last longer than a
//! minute. `cargo test -p examples --test soak -- --nocapture` shows them as they come.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod audit;
mod books;
mod gate;
mod gauges;
mod keys;
mod logs;
mod mails;
mod process;
mod resources;
mod run;
mod schedule;
mod summary;
mod system;
mod told;
mod traffic;
mod worked;

use std::{
    fs, mem,
    time::{Duration, Instant},
};

use audit::Books;
use fastrand::Rng;
use gauges::{Gauges, waited_for};
use mails::Mails;
use reqwest::Client;
use resources::Uses;
use run::{Run, Trace};
use schedule::schedule;
use summary::counted;
use system::System;
use tokio::{task::JoinSet, time::sleep_until};
use traffic::Clients;

/// From one thing that a client does to the next.
const PAUSE: Duration = Duration::from_millis(40);
/// The same in the calm, in which breakers close and payments settle.
const CALM_PAUSE: Duration = Duration::from_millis(250);
/// How long breakers may take to close and payments to settle once everything is well.
const SETTLED_WITHIN: Duration = Duration::from_secs(40);
/// How long connections may take to be closed, slots to become free and what was hung up on to settle
/// once nobody asks.
const IDLE_WITHIN: Duration = Duration::from_secs(15);
const GLANCE: Duration = Duration::from_millis(250);

#[tokio::test]
async fn whatever_fails_no_order_is_lost_none_is_charged_twice_and_all_comes_to_rest() {
    let mut run = Run::of_environment();
    println!("SOAK_SEED={} SOAK_SECONDS={}", run.seed, run.length.as_secs());
    let trace = Trace::of(run);
    let mut system = System::start(trace.folder()).await;
    let client = Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    books::watch(&system.database("order"), &system.database("payment")).await;
    let before = Books::of(&system, &client, None).await;
    let clients = Clients::new(system.urls.clone());
    let uses = Uses::default();
    let mut rng = Rng::with_seed(run.seed);
    run.start = Instant::now();

    let mails = Mails::default();
    let watching = tokio::spawn({
        let (uses, ids) = (uses.clone(), system.ids.clone());
        let (mails, client, url) = (mails.clone(), client.clone(), system.urls.mails.clone());
        async move { tokio::join!(uses.sample(&ids), mails.watch(&client, &url)) }
    });
    let mut under_way = JoinSet::new();
    tokio::select! {
        () = clients.mixed(rng.fork(), PAUSE, &mut under_way) => unreachable!("it goes on"),
        () = suffer(run, &mut system, &client) => {}
    }
    run.say("all is well from now on");
    let settled = tokio::select! {
        () = clients.mixed(rng.fork(), CALM_PAUSE, &mut under_way) => unreachable!("it goes on"),
        settled = calm(run, &mut system, &clients, &client, rng.fork()) => settled,
    };
    while let Some(done) = under_way.join_next().await {
        done.unwrap();
    }
    let refused = clients.once_more(rng.fork()).await;
    run.say("nobody asks any more");
    let busy = idle(&mut system, &client, &uses).await;
    watching.abort();
    // It goes on until then, unless it has panicked.
    assert!(
        watching.await.is_err_and(|ended| ended.is_cancelled()),
        "what was watched is not known"
    );
    let mut books = Books::of(&system, &client, Some(&before)).await;
    (books.mails, books.unseen_mails) = mails.all(&client, &system.urls.mails).await;

    let told = mem::take(&mut *clients.told.lock());
    let mut faults = books.faults(&told);
    faults.extend(worked::missing(&books, &told, run.length));
    for found in [settled, refused, busy] {
        faults.extend(found);
    }
    summary::print(run, &mut system, &books, &told, &uses);
    faults.extend(told.wrong);
    faults.extend(forsaken(&mut system, &client, &before).await);
    for process in system.processes() {
        process.assert_alive();
        process.terminate().await;
        let log = fs::read_to_string(process.log()).unwrap();
        let name = process.name;
        let unfit = logs::unfit(&log).chain(logs::kept(&log));
        faults.extend(unfit.map(|line| format!("in the log of {name}: {line}")));
    }
    let kinds = counted(&faults).map(|(fault, times)| format!("{times:6}  {fault}\n"));
    let kinds: String = kinds.collect();
    assert!(faults.is_empty(), "SOAK_SEED={}, what is wrong:\n{kinds}", run.seed);
}

/// Lets all troubles come, those of each target one after the other.
async fn suffer(run: Run, system: &mut System, client: &Client) {
    let steps = schedule(run.seed, run.length);
    let mut targets = JoinSet::new();
    for (target, mut part) in system.parts.drain(..) {
        let steps = steps.clone().into_iter().filter(move |step| step.target == target);
        let client = client.clone();
        targets.spawn(async move {
            for step in steps {
                sleep_until((run.start + step.at).into()).await;
                run.say(&step.to_string());
                part.begin(&client, step.trouble).await;
                sleep_until((run.start + step.at + step.lasts).into()).await;
                part.end(&client, step.trouble).await;
                run.say(&format!("{} is well", target.name()));
            }
            (target, part)
        });
    }
    while let Some(done) = targets.join_next().await {
        system.parts.push(done.unwrap());
    }
    sleep_until((run.start + run.length).into()).await;
}

/// Waits until breakers are closed and payments are settled, and says what is not.
async fn calm(
    run: Run,
    system: &mut System,
    clients: &Clients,
    client: &Client,
    mut rng: Rng,
) -> Vec<String> {
    let start = Instant::now();
    let mut users = 0..;
    loop {
        clients.calmly(rng.fork(), users.next().expect("there is always one more")).await;
        let mut open = Vec::new();
        for (name, page) in pages(system, client).await {
            let not_closed = Gauges::of(&page).not_closed();
            open.extend(not_closed.iter().map(|breaker| format!("{name}: {breaker}")));
        }
        let is_settled = Books::of(system, client, None).await.is_settled();
        if open.is_empty() && is_settled {
            run.say(&format!("it took {:.1} s to settle", start.elapsed().as_secs_f64()));
            return open;
        }
        if start.elapsed() > SETTLED_WITHIN {
            return open; // what is not settled is found in the books
        }
        tokio::time::sleep(GLANCE).await;
    }
}

/// Waits until nothing is taken any more, and says what is.
async fn idle(system: &mut System, client: &Client, uses: &Uses) -> Vec<String> {
    let start = Instant::now();
    loop {
        let mut busy = Vec::new();
        for (name, page) in pages(system, client).await {
            busy.extend(Gauges::of(&page).busy().iter().map(|gauge| format!("{name}: {gauge}")));
        }
        for process in system.processes() {
            busy.extend(uses.grown(process.name, process.id()));
            let instances = client.get(format!("{}/instances", process.actuator())).send().await;
            let instances = instances.unwrap().json().await.unwrap();
            busy.extend(waited_for(&instances).map(|what| format!("{}: {what}", process.name)));
        }
        busy.extend(keys::lasting(&system.urls.redis).await.unwrap());
        for service in ["order", "payment", "inventory"] {
            if !books::is_writable(&system.database(service)).await {
                busy.push(format!("{service} has a transaction open"));
            }
        }
        if !Books::of(system, client, None).await.is_settled() {
            busy.push("what was hung up on is not settled".to_owned());
        }
        if busy.is_empty() || start.elapsed() > IDLE_WITHIN {
            return busy;
        }
        tokio::time::sleep(GLANCE).await;
    }
}

/// Has an order process take it that nobody comes back to the orders whose payment was not begun, and says
/// what is still kept for them when it has had the time to withdraw them.
async fn forsaken(system: &mut System, client: &Client, before: &Books) -> Vec<String> {
    let order = system.processes().find(|process| process.name == "order-1");
    let order = order.expect("it is one of them");
    order.terminate().await;
    order.set("--withdraw-after", "1");
    order.come_back().await;
    let start = Instant::now();
    loop {
        let books = Books::of(system, client, Some(before)).await;
        if !books.has_forsaken() || start.elapsed() > IDLE_WITHIN {
            return books.kept_in_vain();
        }
        tokio::time::sleep(GLANCE).await;
    }
}

/// What each process says of its protections.
async fn pages(system: &mut System, client: &Client) -> Vec<(&'static str, String)> {
    let mut pages = Vec::new();
    for process in system.processes() {
        let page = client.get(format!("{}/prometheus", process.actuator())).send().await;
        pages.push((process.name, page.unwrap().text().await.unwrap()));
    }
    pages
}
