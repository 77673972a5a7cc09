//! Behaviour that users of other bulkheads reported as missing, named by the project's case ids.

use std::{
    future::{Future, pending},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use resilience::{Bulkhead, BulkheadConfig, BulkheadFull, CallError, Clock, bulkhead::Permit};

const LONG: Duration = Duration::from_hours(1);

type Acquire = Pin<Box<dyn Future<Output = Result<Permit, BulkheadFull>>>>;

fn bulkhead(max: u32, max_wait: Duration) -> Bulkhead {
    let config = BulkheadConfig::builder()
        .max_concurrent_calls(max)
        .max_wait_duration(max_wait)
        .build()
        .expect("the tests use values in range");
    Bulkhead::with_clock("case", config, Clock::manual(Duration::ZERO).0)
}

fn acquire(bulkhead: &Bulkhead) -> Acquire {
    let bulkhead = bulkhead.clone();
    Box::pin(async move { bulkhead.acquire().await })
}

fn poll<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn f01_a_dropped_call_frees_its_slot() {
    let bulkhead = bulkhead(1, Duration::ZERO);
    let mut first = Box::pin(bulkhead.call(pending::<Result<(), ()>>()));
    assert!(poll(&mut first).is_pending());
    assert_eq!(bulkhead.available_concurrent_calls(), 0);
    drop(first);
    let mut second = Box::pin(bulkhead.call(async { Ok::<_, ()>(2) }));
    assert_eq!(poll(&mut second), Poll::Ready(Ok(2)));
}

#[tokio::test]
async fn f03_a_body_that_panics_frees_its_slot() {
    let bulkhead = bulkhead(1, Duration::ZERO);
    let call = tokio::spawn({
        let bulkhead = bulkhead.clone();
        async move { bulkhead.call(async { panic!("body") as Result<(), ()> }).await }
    });
    assert!(call.await.unwrap_err().is_panic());
    let metrics = bulkhead.metrics();
    assert_eq!(metrics.available_concurrent_calls, metrics.max_concurrent_calls);
}

#[test]
fn f04_releasing_too_often_frees_no_slot_that_is_held() {
    let bulkhead = bulkhead(2, Duration::ZERO);
    let _permit = bulkhead.try_acquire().unwrap();
    for _ in 0..5 {
        bulkhead.release_permission();
        bulkhead.on_complete();
    }
    assert_eq!(bulkhead.available_concurrent_calls(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn f05_never_more_calls_run_than_the_maximum() {
    let bulkhead = bulkhead(10, LONG);
    let running = Arc::new(AtomicU32::new(0));
    let most = Arc::new(AtomicU32::new(0));
    let calls: Vec<_> = (0..1_000)
        .map(|_| {
            let (bulkhead, running, most) = (bulkhead.clone(), running.clone(), most.clone());
            tokio::spawn(async move {
                bulkhead
                    .call(async {
                        most.fetch_max(
                            running.fetch_add(1, Ordering::SeqCst) + 1,
                            Ordering::SeqCst,
                        );
                        tokio::task::yield_now().await;
                        running.fetch_sub(1, Ordering::SeqCst);
                        Ok::<_, ()>(())
                    })
                    .await
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert!((2..=10).contains(&most.load(Ordering::SeqCst)));
    assert_eq!(bulkhead.available_concurrent_calls(), 10);
    assert_eq!(bulkhead.metrics().finished, 1_000);
}

#[tokio::test]
async fn f07_a_slot_stays_taken_until_blocking_work_has_ended() {
    let bulkhead = bulkhead(1, Duration::ZERO);
    let permit = bulkhead.try_acquire().unwrap();
    let (end, ended) = mpsc::channel::<()>();
    let work = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let _ = ended.recv();
    });
    work.abort();
    assert!(bulkhead.try_acquire().is_err(), "the thread still works");
    drop(end);
    let _ = work.await;
    assert!(bulkhead.try_acquire().is_ok());
}

#[test]
fn f08_a_slot_that_was_granted_but_never_fetched_is_not_lost() {
    let bulkhead = bulkhead(1, LONG);
    let permit = bulkhead.try_acquire().unwrap();
    let mut granted = acquire(&bulkhead);
    assert!(poll(&mut granted).is_pending());
    drop(permit);
    assert!(bulkhead.try_acquire().is_err(), "it is reserved for the one that waited");
    drop(granted);
    assert!(bulkhead.try_acquire().is_ok());
}

#[test]
fn f09_zero_rejects_every_call_and_shows_as_zero() {
    let bulkhead = bulkhead(0, LONG);
    let mut call = Box::pin(bulkhead.call(async { Ok::<_, ()>(()) }));
    assert!(matches!(poll(&mut call), Poll::Ready(Err(CallError::Resilience(_)))));
    assert!(bulkhead.try_acquire().is_err());
    assert_eq!(bulkhead.available_concurrent_calls(), 0);
    assert_eq!(bulkhead.max_concurrent_calls(), 0);
}

#[test]
fn f10_without_a_wait_a_full_bulkhead_rejects_at_the_first_poll() {
    let bulkhead = bulkhead(1, Duration::ZERO);
    let _permit = bulkhead.try_acquire().unwrap();
    assert!(matches!(poll(&mut acquire(&bulkhead)), Poll::Ready(Err(_))));
    assert_eq!(bulkhead.waiting(), 0);
}

#[test]
fn f11_a_head_that_is_cancelled_when_granted_passes_the_slot_to_the_next() {
    let bulkhead = bulkhead(1, LONG);
    let permit = bulkhead.try_acquire().unwrap();
    let [mut first, mut second, mut third] = [(); 3].map(|()| acquire(&bulkhead));
    for waiting in [&mut first, &mut second, &mut third] {
        assert!(poll(waiting).is_pending());
    }
    drop(permit);
    drop(first);
    assert!(poll(&mut third).is_pending(), "in order");
    let Poll::Ready(Ok(permit)) = poll(&mut second) else { panic!() };
    drop(permit);
    assert!(matches!(poll(&mut third), Poll::Ready(Ok(_))));
}

#[tokio::test(start_paused = true)]
async fn on_tokios_paused_clock_a_full_bulkhead_rejects_after_the_maximum_wait() {
    let wait = Duration::from_millis(50);
    let config = bulkhead(1, wait).config();
    let bulkhead = Bulkhead::new("paused", (*config).clone());
    let _permit = bulkhead.try_acquire().unwrap();
    let start = tokio::time::Instant::now();
    bulkhead.acquire().await.unwrap_err();
    assert_eq!(start.elapsed().as_millis(), wait.as_millis());
}
