//! Waits of blocking callers, which park their thread where async ones would leave a waker.

use std::{
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use crate::clock::Clock;

/// Parks the thread until `ready` has an answer, or `clock` reaches `due`: nothing then.
///
/// `ready` is asked first, and again whenever the waker that it was given has been woken. So a thread
/// waits in the same queues as tasks do. No runtime is needed.
pub(crate) fn park<R>(
    clock: &Clock,
    due: u64,
    mut ready: impl FnMut(&mut Context<'_>) -> Poll<R>,
) -> Option<R> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut hand = clock.wait_for_hand(due);
    loop {
        if let Poll::Ready(answer) = ready(&mut cx) {
            return Some(answer);
        }
        // A thread that was woken before it parks does not stop, so no wake is missed.
        if let Some(hand) = &mut hand {
            if hand.poll(&cx).is_ready() {
                return None;
            }
            thread::park();
        } else {
            match due.saturating_sub(clock.now()) {
                0 => return None,
                left => thread::park_timeout(Duration::from_nanos(left)),
            }
        }
    }
}

/// Parks the thread for a time on `clock`.
pub(crate) fn sleep(clock: &Clock, duration: Duration) {
    let due = clock.now().saturating_add(crate::clock::saturating_nanos(duration));
    park(clock, due, |_| Poll::<()>::Pending);
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_thread_is_woken_by_the_hand_of_its_clock() {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let sleeper = thread::spawn({
            let clock = clock.clone();
            move || {
                sleep(&clock, Duration::from_secs(5));
                clock.now()
            }
        });
        // However the threads run: the clock is moved until the sleeper has had its five seconds.
        while !sleeper.is_finished() {
            hand.advance(Duration::from_secs(1));
            thread::yield_now();
        }
        assert!(sleeper.join().expect("no panic") >= 5_000_000_000);
    }

    #[test]
    fn the_system_clock_wakes_a_thread_without_a_runtime() {
        let (clock, start) = (Clock::system(), Instant::now());
        sleep(&clock, Duration::from_millis(2));
        assert!(start.elapsed() >= Duration::from_millis(2));
    }

    #[test]
    fn an_answer_that_is_there_needs_no_time() {
        let (clock, _hand) = Clock::manual(Duration::ZERO);
        assert_eq!(park(&clock, 0, |_| Poll::Ready(7)), Some(7));
    }

    #[test]
    fn who_parks_is_woken_by_what_it_waits_for() {
        let (clock, _hand) = Clock::manual(Duration::ZERO);
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let waiter = thread::spawn(move || {
            let mut receiver = std::pin::pin!(receiver);
            park(&clock, u64::MAX, |cx| Future::poll(receiver.as_mut(), cx))
        });
        sender.send(7).expect("somebody waits");
        assert_eq!(waiter.join().expect("no panic"), Some(Ok(7)));
    }
}
