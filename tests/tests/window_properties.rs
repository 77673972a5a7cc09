//! Windows seen from outside: after every call they are what a recount of the calls gives.

use std::time::Duration;

use resilience::{
    CircuitBreaker, CircuitBreakerConfig, Clock,
    circuit_breaker::{SlidingWindowType, State},
};

const STEPS: usize = 10_000;
const SLOW: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
struct Call {
    second: u64,
    failed: bool,
    slow: bool,
}

/// Makes calls at random, with pauses of up to several windows, and compares after each.
fn compare(kind: SlidingWindowType, size: u32, seed: u64) {
    let start = Duration::from_millis(777);
    let (clock, hand) = Clock::manual(start);
    let config = CircuitBreakerConfig::builder()
        .sliding_window_type(kind)
        .sliding_window_size(size)
        .slow_call_duration_threshold(SLOW)
        .build()
        .expect("in range");
    let breaker = CircuitBreaker::with_clock("b", config, clock);
    // Records like a closed breaker and never leaves the window behind.
    breaker.transition_to(State::MetricsOnly).expect("allowed");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut now, mut calls) = (start, Vec::<Call>::new());
    for step in 0..STEPS {
        let pause = Duration::from_millis(match random.u8(0..20) {
            0 => random.u64(0..100_000),
            1..=8 => random.u64(0..1_500),
            _ => 0,
        });
        hand.advance(pause);
        now += pause;
        let call = Call { second: now.as_secs(), failed: random.bool(), slow: random.bool() };
        let elapsed = if call.slow { 2 * SLOW } else { Duration::ZERO };
        if call.failed {
            breaker.on_error(elapsed, &[]);
        } else {
            breaker.on_success(elapsed);
        }
        calls.push(call);

        let in_window: Vec<Call> = match kind {
            SlidingWindowType::CountBased => {
                calls.iter().rev().take(size as usize).copied().collect()
            }
            SlidingWindowType::TimeBased => {
                let is_in = |call: &&Call| call.second + u64::from(size) > now.as_secs();
                calls.iter().rev().take_while(is_in).copied().collect()
            }
        };
        let count =
            |wanted: fn(&Call) -> bool| in_window.iter().filter(|call| wanted(call)).count() as u64;
        let metrics = breaker.metrics();
        assert_eq!(
            [
                metrics.buffered_calls,
                metrics.failed_calls,
                metrics.slow_calls,
                metrics.slow_failed_calls,
                metrics.slow_successful_calls,
            ],
            [
                count(|_| true),
                count(|call| call.failed),
                count(|call| call.slow),
                count(|call| call.slow && call.failed),
                count(|call| call.slow && !call.failed),
            ],
            "step {step} of a {kind:?} window of {size}"
        );
    }
}

#[test]
fn c01_a_time_window_equals_a_recount_after_each_of_ten_thousand_calls() {
    for (size, seed) in [(1, 1), (10, 2), (60, 3)] {
        compare(SlidingWindowType::TimeBased, size, seed);
    }
}

#[test]
fn a_count_window_equals_a_recount_after_each_of_ten_thousand_calls() {
    for (size, seed) in [(1, 4), (37, 5), (100, 6)] {
        compare(SlidingWindowType::CountBased, size, seed);
    }
}
