//! What a rate limiter never does, whatever happens to it.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use proptest::prelude::*;
use resilience::{
    Clock, ManualClock, RateLimiter, RateLimiterConfig, RequestNotPermitted, rate_limiter::Refill,
};

#[derive(Debug, Clone)]
enum Step {
    Try,
    /// Takes a permission whose wait, if any, is the caller's own affair.
    Reserve,
    Drain,
    Wait,
    /// Drops one of the calls that wait.
    Cancel(prop::sample::Index),
    Advance(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Try),
        1 => Just(Step::Reserve),
        1 => Just(Step::Drain),
        4 => Just(Step::Wait),
        2 => any::<prop::sample::Index>().prop_map(Step::Cancel),
        3 => (1_u64..30).prop_map(Step::Advance),
    ];
    prop::collection::vec(step, 1..120)
}

type Acquire = Pin<Box<dyn Future<Output = Result<(), RequestNotPermitted>>>>;

struct Run {
    limiter: RateLimiter,
    hand: ManualClock,
    /// Calls that wait, with a number that counts them.
    waiting: Vec<(usize, Acquire)>,
    calls: usize,
    now: u64,
    /// When calls were let through, or will have been.
    admissions: Vec<u64>,
    /// The numbers of the calls that waited, as they were let through.
    order: Vec<usize>,
}

impl Run {
    fn new(refill: Refill, limit: u32, period: u64, timeout: u64) -> Self {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let config = RateLimiterConfig::builder()
            .refill(refill)
            .limit_for_period(limit)
            .limit_refresh_period(Duration::from_nanos(period))
            .timeout_duration(Duration::from_nanos(timeout))
            .build()
            .expect("the strategies stay in range");
        let limiter = RateLimiter::with_clock("property", config, clock);
        let (waiting, admissions, order) = (Vec::new(), Vec::new(), Vec::new());
        Self { limiter, hand, waiting, calls: 0, now: 0, admissions, order }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Try => {
                if self.limiter.try_acquire(1).is_ok() {
                    self.admissions.push(self.now);
                }
            }
            Step::Reserve => {
                if let Some(wait) = self.limiter.reserve(1) {
                    let due = self.now + u64::try_from(wait.as_nanos()).expect("a short wait");
                    self.admissions.push(due);
                }
            }
            Step::Drain => {
                self.limiter.drain();
                assert!(self.limiter.available_permissions() <= 0, "drained");
            }
            Step::Wait => {
                let limiter = self.limiter.clone();
                self.waiting.push((self.calls, Box::pin(async move { limiter.acquire(1).await })));
                self.calls += 1;
                self.poll();
            }
            Step::Cancel(index) => {
                if !self.waiting.is_empty() {
                    let index = index.index(self.waiting.len());
                    drop(self.waiting.remove(index));
                }
            }
            // One nanosecond at a time, so that every call passes at the time of its turn.
            Step::Advance(nanos) => {
                for _ in 0..*nanos {
                    self.hand.advance(Duration::from_nanos(1));
                    self.now += 1;
                    self.poll();
                }
            }
        }
    }

    fn poll(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        let (now, admissions, order) = (self.now, &mut self.admissions, &mut self.order);
        self.waiting.retain_mut(|(number, call)| match call.as_mut().poll(&mut context) {
            Poll::Ready(answer) => {
                if answer.is_ok() {
                    admissions.push(now);
                    order.push(*number);
                }
                false
            }
            Poll::Pending => true,
        });
    }

    /// The most calls let through in a window of this length, wherever it begins.
    fn most_in(&self, length: u64) -> usize {
        let in_window = |from: &u64| {
            self.admissions.iter().filter(|at| (*from..*from + length).contains(at)).count()
        };
        self.admissions.iter().map(in_window).max().unwrap_or(0)
    }

    /// Whether all permissions are there again once nobody wants any.
    fn recovers(mut self, limit: u32) -> bool {
        self.waiting.clear();
        let waiting = self.limiter.waiting();
        self.hand.advance(Duration::from_secs(1));
        waiting == 0 && self.limiter.available_permissions() == i64::from(limit)
    }
}

proptest! {
    #[test]
    fn no_cycle_admits_more_than_the_limit(
        limit in 1_u32..6, period in 1_u64..20, timeout in 0_u64..100, steps in steps(),
    ) {
        let mut run = Run::new(Refill::Interval, limit, period, timeout);
        for step in &steps {
            run.step(step);
            let cycle = run.now / period;
            let in_cycle = run.admissions.iter().filter(|at| **at / period == cycle).count();
            prop_assert!(in_cycle <= limit as usize, "{in_cycle} in cycle {cycle}");
        }
        prop_assert!(run.recovers(limit));
    }

    #[test]
    fn no_window_admits_more_than_a_burst_and_what_trickles_in_when_refilled_greedily(
        limit in 1_u32..6, period in 1_u64..20, timeout in 0_u64..100, steps in steps(),
    ) {
        let mut run = Run::new(Refill::Greedy, limit, period, timeout);
        for step in &steps {
            run.step(step);
        }
        for length in 1..=4 * period {
            let trickled = (length * u64::from(limit)).div_ceil(period);
            let most = usize::try_from(u64::from(limit) + trickled).unwrap_or(usize::MAX);
            prop_assert!(run.most_in(length) <= most, "a window of {length}");
        }
        prop_assert!(run.recovers(limit));
    }

    #[test]
    fn a_limit_that_rises_while_calls_wait_admits_them_in_order_and_no_more_than_it_allows(
        greedy: bool, limit in 1_u32..4, period in 1_u64..20,
        raises in prop::collection::vec((0_u64..40, 0_u32..4, any::<prop::sample::Index>()), 1..12),
    ) {
        let refill = if greedy { Refill::Greedy } else { Refill::Interval };
        let mut run = Run::new(refill, limit, period, 100_000);
        let mut limit = limit;
        (0..60).for_each(|_| run.step(&Step::Wait));
        for (nanos, more, cancelled) in raises {
            for _ in 0..nanos {
                run.step(&Step::Advance(1));
                let cycle = run.now / period;
                let in_cycle = run.admissions.iter().filter(|at| **at / period == cycle).count();
                let burst = if greedy { 2 } else { 1 };
                prop_assert!(in_cycle <= burst * limit as usize, "{in_cycle} in cycle {cycle}");
            }
            if run.waiting.is_empty() {
                break;
            }
            limit += more;
            run.limiter.change_limit_for_period(limit).expect("in range");
            run.poll();
            run.step(&Step::Cancel(cancelled));
        }
        run.step(&Step::Advance(60 * period));
        prop_assert!(run.waiting.is_empty());
        prop_assert!(run.order.is_sorted());
        prop_assert!(run.recovers(limit));
    }

    #[test]
    fn waiting_calls_pass_in_the_order_in_which_they_came(
        greedy: bool, limit in 1_u32..6, period in 1_u64..20, gaps in prop::collection::vec(0_u64..10, 1..30),
    ) {
        let refill = if greedy { Refill::Greedy } else { Refill::Interval };
        let mut run = Run::new(refill, limit, period, 1_000);
        for gap in &gaps {
            run.step(&Step::Wait);
            run.step(&Step::Advance(*gap + 1));
        }
        run.step(&Step::Advance(1_000));
        prop_assert_eq!(run.order, (0..gaps.len()).collect::<Vec<_>>());
    }
}
