//! Whoever calls, and however a call ends.

use std::{
    future::Future,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    thread,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use resilience::{
    CallError, RateLimiter,
    rate_limiter::{Algorithm, OnStoreFailure},
    store::Store,
};
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open},
    server::{Server, wait_for_a_window, wait_until},
};
use tokio::runtime::{Builder, Runtime};

const MINUTE: Duration = Duration::from_mins(1);

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
}

/// Calls of that limit wait as long as it takes.
fn patient(algorithm: Algorithm, permissions: u32, period: Duration, store: &Store) -> RateLimiter {
    let config = limit(algorithm, permissions, period).timeout_duration(MINUTE);
    limiter(&format!("{algorithm:?}-{permissions}-{period:?}"), config, store)
}

#[test]
fn threads_without_a_runtime_and_tasks_of_several_runtimes_share_a_limit() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 50, A_YEAR), &store);
        let runtimes = [runtime(), runtime()];
        let tasks: Vec<_> = (0..40)
            .map(|number| {
                let limiter = limiter.clone();
                runtimes[number % 2].spawn(async move { limiter.acquire(1).await.is_ok() })
            })
            .collect();
        let in_threads: u32 = thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(|| admitted(&limiter, 20)));
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let in_tasks = runtimes[0].block_on(join_all(tasks));
        let in_tasks = in_tasks.iter().filter(|task| *task.as_ref().unwrap()).count();
        assert_eq!(in_tasks as u64 + u64::from(in_threads), 50, "{algorithm:?}");
    }
}

#[test]
fn a_runtime_that_ends_takes_its_waiting_calls_with_it_and_nobody_elses() {
    const PERIOD: Duration = Duration::from_millis(400);
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let limiter = patient(algorithm, 1, PERIOD, &store);
        let wait_in = |runtime: &Runtime| {
            let limiter = limiter.clone();
            runtime.spawn(async move { limiter.acquire(1).await })
        };
        let (ends, stays) = (runtime(), runtime());
        wait_for_a_window(&server, PERIOD);
        limiter.acquire_blocking(1).unwrap();
        // The first in the line, who would ask for the others, goes away.
        let _gone = wait_in(&ends);
        wait_until("it waits", || limiter.waiting() == 1);
        let others = [wait_in(&stays), wait_in(&stays)];
        wait_until("all wait", || limiter.waiting() == 3);
        drop(ends);
        for other in others {
            stays.block_on(other).unwrap().unwrap();
        }
        assert_eq!(limiter.waiting(), 0);
        let metrics = limiter.metrics();
        assert_eq!((metrics.permitted, metrics.cancelled, metrics.refused), (3, 1, 0));
    }
}

/// Polls a future so many times, as fast as it wants to be polled or faster, and drops it.
fn drop_after(polls: u32, future: impl Future) -> bool {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        if future.as_mut().poll(&mut cx).is_ready() {
            return true;
        }
        thread::sleep(Duration::from_millis(3));
    }
    false
}

#[test]
fn a_call_that_is_dropped_at_any_await_leaves_nothing_behind() {
    let server = Server::start();
    let store = open(&server.url());
    let runtime = runtime();
    let _inside = runtime.enter();
    for algorithm in ALGORITHMS {
        for lease in [1, 2] {
            let config = limit(algorithm, 4, Duration::from_millis(40)).lease(lease);
            let config = config.timeout_duration(MINUTE);
            let limiter = limiter(&format!("{algorithm:?}-{lease}"), config, &store);
            let mut ended = 0;
            for polls in 0..30 {
                let finished = drop_after(polls, limiter.acquire(3));
                ended += u64::from(finished);
                assert_eq!(limiter.waiting(), 0, "after {polls} polls");
            }
            let metrics = limiter.metrics();
            assert_eq!(metrics.permitted, ended);
            // One that was never polled has never begun.
            assert_eq!(metrics.cancelled, 29 - ended);
            assert_eq!(metrics.refused, 0);
            assert!(ended > 0 && metrics.cancelled > 0, "{metrics:?}");
            // Whatever the dropped ones took comes back with time.
            limiter.acquire_blocking(4).unwrap();
        }
    }
}

#[test]
fn a_call_that_is_dropped_while_it_fetches_lets_the_next_one_fetch() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let config = limit(algorithm, 50, A_YEAR).lease(10);
        let limiter = limiter(&format!("{algorithm:?}"), config, &store);
        server.stop();
        let mut fetches = Box::pin(limiter.acquire(1));
        let mut waits = Box::pin(limiter.acquire(1));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(fetches.as_mut().poll(&mut cx).is_pending());
        assert!(waits.as_mut().poll(&mut cx).is_pending());
        drop(fetches);
        server.go_on();
        assert_eq!(runtime().block_on(waits), Ok(()));
    }
}

#[test]
fn a_body_that_panics_has_spent_its_permission_and_nothing_else() {
    let server = Server::start();
    let store = open(&server.url());
    let runtime = runtime();
    for algorithm in ALGORITHMS {
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 4, A_YEAR), &store);
        let task = runtime.spawn({
            let limiter = limiter.clone();
            async move { limiter.call::<(), io::Error>(async { panic!("the body") }).await }
        });
        assert!(runtime.block_on(task).unwrap_err().is_panic());
        let blocking = || limiter.call_blocking::<(), io::Error>(|| panic!("the body"));
        assert!(catch_unwind(AssertUnwindSafe(blocking)).is_err());
        assert_eq!(admitted(&limiter, 10), 2, "{algorithm:?}");
        let refused = runtime.block_on(limiter.call(async { Ok::<_, io::Error>(()) }));
        assert!(matches!(refused, Err(CallError::Resilience(_))));
        assert_eq!(limiter.waiting(), 0);
    }
}

#[test]
fn who_waits_is_let_in_in_the_order_in_which_it_came() {
    let server = Server::start();
    let store = open(&server.url());
    let runtime = runtime();
    for algorithm in ALGORITHMS {
        let limiter = patient(algorithm, 2, Duration::from_millis(100), &store);
        limiter.acquire_blocking(2).unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = (0..10_u64)
            .map(|number| {
                let (limiter, seen) = (limiter.clone(), Arc::clone(&order));
                let task = runtime.spawn({
                    let limiter = limiter.clone();
                    async move {
                        limiter.acquire(1).await.unwrap();
                        seen.lock().unwrap().push(number);
                    }
                });
                wait_until("it is in the line", || {
                    let metrics = limiter.metrics();
                    metrics.waiting + metrics.permitted == number + 2
                });
                task
            })
            .collect();
        runtime.block_on(join_all(tasks));
        let order = order.lock().unwrap();
        assert!(order.is_sorted() && order.len() == 10, "{algorithm:?}: {order:?}");
    }
}

#[test]
fn who_does_not_wait_takes_nothing_from_those_who_do() {
    let server = Server::start();
    let store = open(&server.url());
    let runtime = runtime();
    for algorithm in ALGORITHMS {
        let limiter = patient(algorithm, 10, Duration::from_millis(700), &store);
        // Some are left, too few for the one who waits.
        limiter.acquire_blocking(5).unwrap();
        let waits = runtime.spawn({
            let limiter = limiter.clone();
            async move { limiter.acquire(10).await }
        });
        wait_until("it waits", || limiter.waiting() == 1 || limiter.metrics().permitted == 2);
        let mut overtook = 0;
        while limiter.waiting() == 1 {
            overtook += admitted(&limiter, 1);
            thread::sleep(Duration::from_millis(2));
        }
        runtime.block_on(waits).unwrap().unwrap();
        assert_eq!(overtook, 0, "{algorithm:?}");
    }
}

#[test]
fn however_many_wait_one_of_them_asks() {
    const WAITERS: u32 = 10_000;
    let server = Server::start();
    let store = open(&server.url());
    let runtime = runtime();
    for algorithm in ALGORITHMS {
        let limiter = patient(algorithm, 20, Duration::from_millis(100), &store);
        limiter.change_timeout_duration(Duration::from_millis(2_500)).unwrap();
        // There is a line before the many come, and for as long as they do.
        let line: Vec<_> = (0..10)
            .map(|_| {
                let limiter = limiter.clone();
                runtime.spawn(async move { limiter.acquire(20).await })
            })
            .collect();
        wait_until("they wait", || limiter.waiting() >= 8);
        let before = server.calls_of("evalsha");
        let began = Instant::now();
        let calls = (0..WAITERS).map(|_| {
            let limiter = limiter.clone();
            runtime.spawn(async move { limiter.acquire(1).await.is_ok() })
        });
        let answers = runtime.block_on(join_all(calls));
        let took = began.elapsed();
        let let_in = answers.iter().filter(|answer| *answer.as_ref().unwrap()).count() as u64;
        let asked = server.calls_of("evalsha") - before;
        runtime.block_on(join_all(line));
        // Each is told once to wait, and let in the next time. In the last moment before the time of all is
        // over one after the other hears that it is too late, until the clock says so too.
        assert!(asked <= 2 * let_in + 500, "{algorithm:?}: {asked} for {let_in}");
        assert!(let_in >= 50, "{algorithm:?}: {let_in}");
        assert!(took < Duration::from_secs(6), "{algorithm:?}: {took:?}");
        assert_eq!(limiter.waiting(), 0);
    }
}

#[test]
fn who_waits_keeps_its_place_when_settings_change() {
    let server = Server::start();
    let store = open(&server.url());
    let runtime = runtime();
    for algorithm in ALGORITHMS {
        let limiter = patient(algorithm, 1, Duration::from_millis(700), &store);
        limiter.acquire_blocking(1).unwrap();
        let _ = limiter.try_acquire(1);
        let waiting: Vec<_> = (0..20)
            .map(|_| {
                let limiter = limiter.clone();
                runtime.spawn(async move { limiter.acquire(1).await })
            })
            .collect();
        wait_until("all wait", || limiter.waiting() == 20);
        let before = server.calls_of("evalsha");
        for timeout in 1..=10 {
            limiter.change_timeout_duration(MINUTE * timeout).unwrap();
        }
        thread::sleep(Duration::from_millis(50));
        assert!(limiter.waiting() >= 19, "{algorithm:?}");
        let asked = server.calls_of("evalsha") - before;
        assert!(asked <= 12, "{algorithm:?}: the first one may ask: {asked}");
        // As soon as there is enough for all, all are let in.
        limiter.change_limit_for_period(1_000).unwrap();
        for task in waiting {
            runtime.block_on(task).unwrap().unwrap();
        }
        assert_eq!(limiter.waiting(), 0);
    }
}

#[test]
fn a_limiter_that_is_switched_off_lets_those_who_wait_go_on_at_once() {
    let server = Server::start();
    let store = open(&server.url());
    let runtime = runtime();
    for algorithm in ALGORITHMS {
        let limiter = patient(algorithm, 1, Duration::from_secs(30), &store);
        limiter.acquire_blocking(1).unwrap();
        // The window may have been at its end.
        let _ = limiter.try_acquire(1);
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let limiter = limiter.clone();
                runtime.spawn(async move { limiter.acquire(1).await })
            })
            .collect();
        wait_until("they wait", || limiter.waiting() == 3);
        let began = Instant::now();
        limiter.set_enabled(false);
        assert!(runtime.block_on(join_all(waiting)).into_iter().all(|task| task.unwrap().is_ok()));
        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(limiter.waiting(), 0);
        limiter.set_enabled(true);
        assert!(limiter.try_acquire(1).is_err(), "{algorithm:?}: the store remembers");
    }
}

#[test]
fn who_waits_for_the_store_goes_on_here_when_it_goes_away() {
    let mut server = Server::start();
    let store = open(&server.url());
    let runtime = runtime();
    let waiting: Vec<_> = ALGORITHMS
        .into_iter()
        .map(|algorithm| {
            let config = limit(algorithm, 1, Duration::from_millis(1_500))
                .timeout_duration(MINUTE)
                .on_store_failure(OnStoreFailure::Local);
            let limiter = limiter(&format!("{algorithm:?}"), config, &store);
            limiter.acquire_blocking(1).unwrap();
            let waits = limiter.clone();
            (limiter, runtime.spawn(async move { waits.acquire(1).await }))
        })
        .collect();
    server.kill();
    for (limiter, task) in waiting {
        let answer: Poll<_> = runtime.block_on(async {
            tokio::time::timeout(Duration::from_secs(10), task)
                .await
                .map_or(Poll::Pending, Poll::Ready)
        });
        assert!(matches!(answer, Poll::Ready(Ok(Ok(())))), "{answer:?}");
        assert_eq!((limiter.waiting(), limiter.metrics().permitted), (0, 2));
    }
}
