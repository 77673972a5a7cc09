//! Annotated functions and registries: scopes, removal, detached bodies and the thread pool.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use resilience::{Config, Error, Resilience, bulkhead, config::Format, retry, time_limiter};

fn registry(yaml: &str) -> Resilience {
    Resilience::from_config(Config::from_str(yaml, Format::Yaml).expect("a valid configuration"))
        .expect("a valid configuration")
}

#[retry(name = "scoped")]
async fn fails(calls: &AtomicU32) -> Result<(), Error> {
    calls.fetch_add(1, Ordering::Relaxed);
    let refusing = registry("bulkhead.instances.full.max_concurrent_calls: 0").bulkhead("full");
    refusing.try_acquire().map(drop).map_err(Error::from)
}

#[tokio::test(start_paused = true)]
async fn a_function_uses_the_instances_of_the_scope_it_is_called_in() {
    let attempts = |n: u32| registry(&format!("retry.instances.scoped.max_attempts: {n}"));
    for n in [1, 2, 5] {
        let calls = AtomicU32::new(0);
        let registry = attempts(n);
        assert!(registry.scope(fails(&calls)).await.is_err());
        assert_eq!(calls.into_inner(), n);
        assert_eq!(registry.retry("scoped").metrics().failed_with_retry, 1);
    }
    let calls = AtomicU32::new(0);
    assert!(fails(&calls).await.is_err());
    assert_eq!(calls.into_inner(), 3, "outside of a scope the process registry serves");
}

#[tokio::test(start_paused = true)]
async fn an_inner_scope_hides_the_outer_and_spawn_takes_it_along() {
    let outer = registry("retry.instances.scoped.max_attempts: 2");
    let inner = registry("retry.instances.scoped.max_attempts: 4");
    let calls = Arc::new(AtomicU32::new(0));
    let nested = inner.scope(fails(&calls));
    assert!(outer.scope(nested).await.is_err());
    assert_eq!(calls.swap(0, Ordering::Relaxed), 4);
    let spawned = outer.spawn({
        let calls = Arc::clone(&calls);
        async move { fails(&calls).await }
    });
    assert!(spawned.await.unwrap().is_err());
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

#[bulkhead(name = "removed")]
async fn guarded() -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn a_call_site_follows_a_removed_name_to_its_new_instance() {
    for scoped in [false, true] {
        let registry = if scoped { registry("") } else { resilience::global() };
        let call =
            || async { if scoped { registry.scope(guarded()).await } else { guarded().await } };
        call().await.unwrap();
        let old = registry.bulkhead("removed");
        let held: Vec<_> = (0..25).map(|_| old.try_acquire().unwrap()).collect();
        assert!(call().await.is_err(), "the site uses this instance");
        assert!(registry.remove("removed"));
        call().await.unwrap();
        drop(held);
    }
}

#[time_limiter(name = "slow", detach)]
#[bulkhead(name = "slow")]
async fn runs_on(finished: Arc<AtomicBool>) -> Result<u32, Error> {
    tokio::time::sleep(Duration::from_secs(5)).await;
    finished.store(true, Ordering::Relaxed);
    guarded_in_scope().await?;
    Ok(1)
}

#[bulkhead(name = "innermost")]
async fn guarded_in_scope() -> Result<(), Error> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_detached_body_runs_on_after_a_timeout_and_keeps_its_slot_and_scope() {
    let registry =
        registry("bulkhead.instances: { slow: { max_concurrent_calls: 1 }, innermost: {} }");
    let finished = Arc::new(AtomicBool::new(false));
    let result = registry.scope(runs_on(Arc::clone(&finished))).await;
    assert!(matches!(result, Err(Error::TimedOut(_))));
    assert_eq!(registry.bulkhead("slow").available_concurrent_calls(), 0);
    assert!(!finished.load(Ordering::Relaxed));
    let observed = registry.bulkhead("innermost").events();
    let entered = Arc::new(AtomicU32::new(0));
    let _subscription = observed.subscribe({
        let entered = Arc::clone(&entered);
        move |_| {
            entered.fetch_add(1, Ordering::Relaxed);
        }
    });
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(finished.load(Ordering::Relaxed));
    assert!(entered.load(Ordering::Relaxed) > 0, "the scope went along");
    assert_eq!(registry.bulkhead("slow").available_concurrent_calls(), 1);
}

#[time_limiter(name = "blocking", timeout_duration = "50ms")]
#[bulkhead(
    name = "blocking",
    type = "thread_pool",
    core_thread_pool_size = 1,
    max_thread_pool_size = 1,
    queue_capacity = 0
)]
fn blocks(release: std::sync::mpsc::Receiver<()>) -> Result<&'static str, Error> {
    release.recv().ok();
    Ok("done")
}

#[tokio::test]
async fn g02_a_blocking_function_is_bounded_by_a_time_limit_and_keeps_its_thread() {
    let (release, wait) = std::sync::mpsc::channel();
    assert!(matches!(blocks(wait).await, Err(Error::TimedOut(_))));
    let (_unused, wait) = std::sync::mpsc::channel();
    assert!(matches!(blocks(wait).await, Err(Error::BulkheadFull(_))), "the thread is still busy");
    drop(release);
    let pool = resilience::global().thread_pool_bulkhead("blocking");
    let freed = pool.events();
    let mut stream = freed.stream();
    while pool.metrics().active_thread_count > 0 {
        let _ = tokio::time::timeout(Duration::from_millis(20), stream.next()).await;
    }
    let (release, wait) = std::sync::mpsc::channel();
    drop(release);
    assert_eq!(blocks(wait).await, Ok("done"));
}
