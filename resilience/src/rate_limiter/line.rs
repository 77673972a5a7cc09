//! The calls that wait for their turn: kept so that a change of the settings can move them.

use std::collections::BTreeMap;

use super::engine::{Decision, Engine, Reservation};

/// The waiting calls by the tickets they hold, numbered in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Line {
    waiters: BTreeMap<u64, Waiter>,
    next: u64,
}

/// A call that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiter {
    pub(super) permits: u32,
    /// When it goes on. Never later than it was told at first.
    due: u64,
    /// What the present engine holds for it. Later than `due` where the engine became slower.
    booked: Option<Reservation>,
}

impl Line {
    pub(super) fn len(&self) -> u64 {
        // Lossless: a usize has at most 64 bits.
        self.waiters.len() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiters.is_empty()
    }

    /// Lines a call up and gives it its ticket.
    pub(super) fn join(&mut self, reservation: Reservation) -> u64 {
        let Reservation { due, permits, .. } = reservation;
        let ticket = self.next;
        self.next += 1;
        self.waiters.insert(ticket, Waiter { permits, due, booked: Some(reservation) });
        ticket
    }

    /// When the turn of a ticket comes; `None` when it need not wait any more.
    pub(super) fn due(&self, ticket: u64) -> Option<u64> {
        self.waiters.get(&ticket).map(|waiter| waiter.due)
    }

    /// Takes a call out of the line, if it is still in it. What was booked for it stays booked.
    pub(super) fn leave(&mut self, ticket: u64) -> Option<Waiter> {
        self.waiters.remove(&ticket)
    }

    /// Gives back to `engine` what it holds for all whose turn has not come.
    pub(super) fn release(&mut self, engine: &mut Engine, now: u64) {
        // From the end of the line, where the engines need not remember gaps.
        for ticket in self.in_order(now).into_iter().rev() {
            if let Some(waiter) = self.waiters.get_mut(&ticket) {
                waiter.give_back(engine, now);
            }
        }
    }

    /// Lines all up anew whose turn has not come, in their order; nobody's turn gets later by that.
    pub(super) fn book(&mut self, engine: &mut Engine, now: u64) {
        for ticket in self.in_order(now) {
            let Some(waiter) = self.waiters.get_mut(&ticket) else { continue };
            match engine.acquire(waiter.permits, u64::MAX, now) {
                Decision::Now => waiter.due = now,
                Decision::Later(reservation) => {
                    waiter.due = waiter.due.min(reservation.due);
                    waiter.booked = Some(reservation);
                }
                // More than the new settings ever grant at once. It was promised, and stays so.
                Decision::Refused { .. } => {}
            }
        }
    }

    /// The engine that held the bookings is no more.
    pub(super) fn forget_bookings(&mut self) {
        self.waiters.values_mut().for_each(|waiter| waiter.booked = None);
    }

    /// Lets everybody go on.
    pub(super) fn dissolve(&mut self) {
        self.waiters.clear();
    }

    /// The tickets whose turns have not come, by their turns.
    fn in_order(&self, now: u64) -> Vec<u64> {
        let waiting = self.waiters.iter().filter(|(_, waiter)| waiter.due > now);
        let mut turns: Vec<_> = waiting.map(|(ticket, waiter)| (waiter.due, *ticket)).collect();
        turns.sort_unstable();
        turns.into_iter().map(|(_, ticket)| ticket).collect()
    }
}

impl Waiter {
    /// Gives its permissions back to `engine`, unless its turn has come: they are spent then.
    pub(super) fn give_back(&mut self, engine: &mut Engine, now: u64) {
        if self.due > now
            && let Some(reservation) = self.booked.take()
        {
            engine.cancel(reservation, now);
        }
    }
}
