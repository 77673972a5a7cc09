use std::sync::Arc;

use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use resilience::{Bulkhead, BulkheadConfig, events::Event};

use crate::{block_on, explore, race};

fn bulkhead() -> Bulkhead {
    Bulkhead::new("b", BulkheadConfig::default())
}

#[test]
fn a_reader_that_comes_to_wait_while_events_arrive_gets_them() {
    explore(|| {
        let bulkhead = bulkhead();
        let mut stream = bulkhead.events().stream();
        let other = bulkhead.clone();
        let ((), types) = race(
            move || drop(other.try_acquire()),
            || [(); 2].map(|()| block_on(stream.next()).unwrap().unwrap().type_name()),
        );
        assert_eq!(types, ["CALL_PERMITTED", "CALL_FINISHED"]);
    });
}

#[test]
fn a_reader_that_comes_to_wait_while_the_instance_goes_is_told_the_end() {
    explore(|| {
        let bulkhead = bulkhead();
        let mut stream = bulkhead.events().stream();
        let ((), end) = race(move || drop(bulkhead), || block_on(stream.next()));
        assert!(end.is_none());
    });
}

#[test]
fn listeners_hear_one_event_at_a_time_and_every_one() {
    explore(|| {
        let bulkhead = bulkhead();
        let (inside, heard) = (AtomicU32::new(0), Arc::new(AtomicU32::new(0)));
        let _subscription = bulkhead.events().subscribe({
            let heard = Arc::clone(&heard);
            move |_| {
                // A panic would be swallowed, so an event that comes in between is not counted.
                if inside.fetch_add(1, Relaxed) == 0 {
                    heard.fetch_add(1, Relaxed);
                }
                inside.fetch_sub(1, Relaxed);
            }
        });
        let other = bulkhead.clone();
        let _permits = race(move || other.try_acquire(), || bulkhead.try_acquire());
        assert_eq!(heard.load(Relaxed), 2);
    });
}
