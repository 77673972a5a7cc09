//! What has happened, in short.

use std::collections::BTreeMap;

use crate::{
    audit::{Booked, Books},
    resources::Uses,
    run::Run,
    schedule::schedule,
    system::System,
    told::Told,
};

/// Says what clients were told, what became of payments and orders, and what the processes take.
pub(crate) fn print(run: Run, system: &mut System, books: &Books, told: &Told, uses: &Uses) {
    println!("\nSOAK_SEED={}: {:.1} s", run.seed, run.start.elapsed().as_secs_f64());
    for (what, count) in &told.counts {
        println!("{count:6}  {what}");
    }
    let payments = books.payments.iter().map(|payment| {
        let by = payment.settled_by.map_or_else(String::new, |by| format!(" by {by:?}"));
        let provider = payment.provider.as_deref().unwrap_or("nobody");
        format!("payments {:?} at {provider}{by}", payment.status)
    });
    let orders = books.orders.values().map(|Booked { order, is_payment_begun }| {
        let never = if *is_payment_begun { "" } else { ", never paid for" };
        format!("orders {:?} / {:?}{never}", order.status, order.payment_status)
    });
    for (what, count) in counted(payments).chain(counted(orders)) {
        println!("{count:6}  {what}");
    }
    println!("{:6}  mails", books.mails.len());
    println!("{:6}  troubles", schedule(run.seed, run.length).len());
    for process in system.processes() {
        println!("        {}", uses.told(process.name, process.id()));
    }
}

/// Each of several things, and how often it is there.
pub(crate) fn counted<T: Ord>(
    things: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = (T, u64)> {
    let mut counts = BTreeMap::new();
    for thing in things {
        *counts.entry(thing).or_default() += 1;
    }
    counts.into_iter()
}
