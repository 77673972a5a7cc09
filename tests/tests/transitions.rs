//! Many tasks on one breaker: its state changes form one legal path, told once each.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use resilience::{
    CircuitBreaker, CircuitBreakerConfig, Clock,
    circuit_breaker::{CircuitBreakerEvent, CircuitBreakerEventKind, State},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_tasks_drive_a_breaker_along_one_legal_path() {
    let (clock, hand) = Clock::manual(Duration::from_secs(1));
    let config = CircuitBreakerConfig::builder()
        .sliding_window_size(8)
        .minimum_number_of_calls(4)
        .permitted_number_of_calls_in_half_open_state(4)
        .wait_duration_in_open_state(Duration::from_millis(5))
        .build()
        .unwrap();
    let breaker = CircuitBreaker::with_clock("b", config, clock);
    let path = Arc::new(Mutex::new(Vec::<(State, State)>::new()));
    let subscription = breaker.events().subscribe({
        let path = Arc::clone(&path);
        move |event: &CircuitBreakerEvent| {
            if let CircuitBreakerEventKind::StateTransition { from, to, .. } = event.kind {
                path.lock().unwrap().push((from, to));
            }
        }
    });

    let tasks: Vec<_> = (0..64)
        .map(|task| {
            let (breaker, hand) = (breaker.clone(), hand.clone());
            tokio::spawn(async move {
                let mut random = fastrand::Rng::with_seed(task);
                for _ in 0..500 {
                    hand.advance(Duration::from_micros(random.u64(0..100)));
                    let Ok(permit) = breaker.try_acquire() else {
                        tokio::task::yield_now().await;
                        continue;
                    };
                    tokio::task::yield_now().await;
                    match random.u8(0..10) {
                        0..=4 => permit.failure(),
                        5..=7 => permit.success(),
                        8 => permit.ignore(),
                        _ => drop(permit),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    drop(subscription);

    let path = path.lock().unwrap();
    assert!(path.len() > 20, "the breaker has moved: {}", path.len());
    let mut state = State::Closed;
    for (from, to) in path.iter() {
        assert_eq!(*from, state, "every change starts where the last one ended");
        assert!(from.can_become(*to), "{from} to {to}");
        state = *to;
    }
    assert_eq!(breaker.state(), state);
    assert_eq!(breaker.metrics().totals.transitions, path.len() as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_more_probes_are_in_flight_than_permitted_whatever_becomes_of_them() {
    const PERMITTED: u32 = 4;
    let (clock, hand) = Clock::manual(Duration::from_secs(1));
    let config = CircuitBreakerConfig::builder()
        .minimum_number_of_calls(PERMITTED)
        .permitted_number_of_calls_in_half_open_state(PERMITTED)
        .wait_duration_in_open_state(Duration::from_millis(1))
        .build()
        .unwrap();
    let breaker = CircuitBreaker::with_clock("b", config, clock);
    // No probe succeeds, so the breaker never closes and every permit is a probe's. It decides when
    // the last of them has failed, so none is left over from an earlier half-open state.
    breaker.transition_to(State::Open).unwrap();
    let (running, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));

    let tasks: Vec<_> = (0..64)
        .map(|task| {
            let (breaker, hand) = (breaker.clone(), hand.clone());
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            tokio::spawn(async move {
                let mut random = fastrand::Rng::with_seed(task);
                for _ in 0..500 {
                    hand.advance(Duration::from_micros(random.u64(0..100)));
                    let Ok(permit) = breaker.try_acquire() else {
                        tokio::task::yield_now().await;
                        continue;
                    };
                    let now_running = running.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now_running, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    match random.u8(0..10) {
                        0..=3 => permit.failure(),
                        4..=6 => permit.ignore(),
                        _ => drop(permit),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(most.load(Ordering::SeqCst), PERMITTED, "as many as permitted, and no more");
    assert!(breaker.metrics().totals.transitions > 20, "the breaker has moved");
}
