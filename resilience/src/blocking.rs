//! Waits of blocking callers, which park their thread where async ones would leave a waker.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
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
    // Where a task of tokio blocks its thread, what it waits for must not tell it to give its turn away:
    // that would wake it only once it has.
    let mut ready = pin!(tokio::task::unconstrained(poll_fn(|cx| ready(cx))));
    loop {
        if let Poll::Ready(answer) = ready.as_mut().poll(&mut cx) {
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

/// Runs a future on this thread, which parks while it waits. No runtime is needed: the future sleeps by
/// the alarm that it is given.
pub(crate) fn block_on<F: Future>(clock: &Clock, future: impl FnOnce(Alarm) -> F) -> F::Output {
    let alarm = Alarm { clock: clock.clone(), due: Rc::new(Cell::new(u64::MAX)) };
    let mut future = pin!(future(alarm.clone()));
    loop {
        let due = alarm.due.get();
        let answer = park(clock, due, |cx| {
            alarm.due.set(u64::MAX);
            match future.as_mut().poll(cx) {
                Poll::Ready(answer) => Poll::Ready(Some(answer)),
                // To be looked at sooner than the thread was going to.
                Poll::Pending if alarm.due.get() < due => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        });
        if let Some(Some(answer)) = answer {
            return answer;
        }
    }
}

/// Remembers when a thread has to look at its future again.
#[derive(Clone)]
pub(crate) struct Alarm {
    clock: Clock,
    due: Rc<Cell<u64>>,
}

impl Alarm {
    /// Ends once the clock has reached `until`.
    pub(crate) fn sleep_until(&self, until: u64) -> impl Future<Output = ()> + use<> {
        let alarm = self.clone();
        poll_fn(move |_| {
            if alarm.clock.now() >= until {
                return Poll::Ready(());
            }
            alarm.due.set(alarm.due.get().min(until));
            Poll::Pending
        })
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

    #[test]
    fn a_future_is_run_without_a_runtime() {
        let (clock, start) = (Clock::system(), Instant::now());
        let slept = block_on(&clock, |alarm| async move {
            let now = alarm.clock.now();
            alarm.sleep_until(now + 2_000_000).await;
            alarm.sleep_until(now + 4_000_000).await;
            7
        });
        assert_eq!(slept, 7);
        assert!(start.elapsed() >= Duration::from_millis(4));
    }

    #[test]
    fn a_future_is_woken_by_what_it_waits_for_while_it_has_an_alarm_too() {
        let (clock, _hand) = Clock::manual(Duration::ZERO);
        let (sender, mut receiver) = tokio::sync::oneshot::channel();
        let waiter = thread::spawn(move || {
            block_on(&clock, |alarm| async move {
                let mut end = pin!(alarm.sleep_until(u64::MAX));
                poll_fn(|cx| match end.as_mut().poll(cx) {
                    Poll::Ready(()) => Poll::Ready(None),
                    Poll::Pending => Future::poll(pin!(&mut receiver), cx).map(Result::ok),
                })
                .await
            })
        });
        sender.send(7).expect("somebody waits");
        assert_eq!(waiter.join().expect("no panic"), Some(7));
    }

    #[tokio::test]
    async fn a_task_that_blocks_many_times_without_a_break_is_woken_each_time() {
        let (clock, _hand) = Clock::manual(Duration::ZERO);
        // Tokio has a task that has had this many answers give its turn away.
        for _ in 0..200 {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            sender.send(7).expect("somebody waits");
            let mut receiver = pin!(receiver);
            let answer = park(&clock, u64::MAX, |cx| receiver.as_mut().poll(cx));
            assert_eq!(answer, Some(Ok(7)));
        }
    }
}
