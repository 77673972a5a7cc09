use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::sync::plain::Mutex;

/// The calls under way, by their keys.
#[derive(Debug)]
pub(super) struct Flights<T>(Arc<Mutex<HashMap<String, Arc<Flight<T>>>>>);

/// A call, and those who wait for it.
#[derive(Debug)]
struct Flight<T> {
    /// Whoever holds it leads; the others wait for it in the order in which they came. Closed once
    /// there is a result.
    lead: Arc<Semaphore>,
    result: OnceLock<T>,
}

/// Somebody who leads or waits. The last one to leave a flight takes it out of the list.
#[derive(Debug)]
struct Member<T> {
    flights: Flights<T>,
    key: String,
    /// Taken when the member leaves.
    flight: Option<Arc<Flight<T>>>,
}

/// The right to make the call. Dropped without a result, it goes to the next who waits.
#[derive(Debug)]
pub(super) struct Lead<T> {
    member: Member<T>,
    _turn: OwnedSemaphorePermit,
}

/// What a caller is.
#[derive(Debug)]
pub(super) enum Part<T> {
    Leads(Lead<T>),
    Follows(T),
}

impl<T> Flights<T> {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(HashMap::new())))
    }

    /// How many keys have a call under way.
    pub(super) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// The right to lead if nobody does.
    pub(super) fn try_lead(&self, key: &str) -> Option<Lead<T>> {
        let member = self.join(key);
        // Nor if it has just ended.
        let turn = Arc::clone(&member.flight().lead).try_acquire_owned().ok()?;
        Some(Lead { member, _turn: turn })
    }

    fn join(&self, key: &str) -> Member<T> {
        let mut flights = self.0.lock();
        let flight = if let Some(flight) = flights.get(key) {
            Arc::clone(flight)
        } else {
            let lead = Arc::new(Semaphore::new(1));
            let flight = Arc::new(Flight { lead, result: OnceLock::new() });
            flights.insert(key.to_owned(), Arc::clone(&flight));
            flight
        };
        Member { flights: self.clone(), key: key.to_owned(), flight: Some(flight) }
    }
}

impl<T: Clone> Flights<T> {
    /// Leads, or waits for the one who does.
    ///
    /// # Cancel safety
    ///
    /// Dropping it leaves the flight to the others.
    pub(super) async fn take_part(&self, key: &str) -> Part<T> {
        let member = self.join(key);
        if let Ok(turn) = Arc::clone(&member.flight().lead).acquire_owned().await {
            return Part::Leads(Lead { member, _turn: turn });
        }
        let result = member.flight().result.get();
        Part::Follows(result.expect("a flight is closed by its result").clone())
    }
}

impl<T> Lead<T> {
    /// Gives a result to all who wait; whoever comes later starts anew.
    pub(super) fn land(mut self, result: T) {
        // Only the leader sets it, and only here.
        let _ = self.member.flight().result.set(result);
        // All at once: none waits for another to be polled.
        self.member.flight().lead.close();
        self.member.leave(true);
    }
}

impl<T> Member<T> {
    fn flight(&self) -> &Flight<T> {
        self.flight.as_deref().expect("a member that has not left")
    }

    fn leave(&mut self, landed: bool) {
        let mut flights = self.flights.0.lock();
        let Some(flight) = self.flight.take() else { return };
        let is_listed = flights.get(&self.key).is_some_and(|listed| Arc::ptr_eq(listed, &flight));
        // Handles are made and dropped under the lock: there is the list's and one for each member.
        let is_last = Arc::strong_count(&flight) == 2;
        if is_listed && (landed || is_last) {
            flights.remove(&self.key);
        }
        let last = Arc::into_inner(flight);
        drop(flights);
        // With its result, whose drop is the code of others.
        drop(last);
    }
}

impl<T> Drop for Member<T> {
    fn drop(&mut self) {
        self.leave(false);
    }
}

impl<T> Clone for Flights<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
