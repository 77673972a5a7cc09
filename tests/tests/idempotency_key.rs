//! One key for each logical call: who has it, and who has another one.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::{
    future::Future,
    sync::{Mutex, PoisonError},
    task::Poll,
    time::Duration,
};

use resilience::{
    CallError, Config, Error, IdempotencyKey, Resilience, Retry, RetryConfig, Stack, TimeLimiter,
    TimeLimiterConfig, bulkhead, circuit_breaker, idempotency_key, retry, time_limiter,
    with_idempotency_key,
};

const MILLISECOND: Duration = Duration::from_millis(1);

type Keys = Mutex<Vec<Option<IdempotencyKey>>>;
type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Writes down the key that is present.
fn note(keys: &Keys) {
    keys.lock().unwrap_or_else(PoisonError::into_inner).push(idempotency_key());
}

/// What was written down, which must be one and the same key so many times.
fn one_key(keys: &Keys, times: usize) -> IdempotencyKey {
    let keys = std::mem::take(&mut *keys.lock().unwrap());
    assert_eq!(keys.len(), times);
    let key = keys[0].expect("there is a key");
    assert!(keys.iter().all(|other| *other == Some(key)), "{keys:?}");
    key
}

fn registry() -> Resilience {
    Resilience::from_config(Config::default()).unwrap()
}

fn quick_retry(name: &str) -> Retry {
    Retry::new(name, RetryConfig::builder().wait_duration(MILLISECOND).build().unwrap())
}

// Annotated functions.

#[retry(name = "fails", wait_duration = "1ms", idempotency_key)]
#[circuit_breaker(name = "fails")]
async fn fails(keys: &Keys) -> Result<(), Failed> {
    note(keys);
    tokio::task::yield_now().await;
    note(keys);
    Err("down".into())
}

#[tokio::test(start_paused = true)]
async fn every_attempt_has_the_same_key_and_every_call_another_one() {
    let (keys, registry) = (Keys::default(), registry());
    let mut seen = Vec::new();
    for _ in 0..3 {
        registry.scope(fails(&keys)).await.unwrap_err();
        assert_eq!(idempotency_key(), None, "outside of the call there is none");
        seen.push(one_key(&keys, 6));
    }
    assert!(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
}

#[tokio::test(start_paused = true)]
async fn calls_at_the_same_time_do_not_see_each_others_key() {
    let (one, other, registry) = (Keys::default(), Keys::default(), registry());
    let both = async { tokio::join!(fails(&one), fails(&other)) };
    let _ = registry.scope(both).await;
    assert_ne!(one_key(&one, 6), one_key(&other, 6));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_or_panics_leaves_no_key_behind() {
    let (keys, registry) = (Keys::default(), registry());
    {
        let mut call = Box::pin(registry.scope(fails(&keys)));
        let first = std::future::poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await;
        assert!(first.is_pending());
        assert_eq!(idempotency_key(), None, "between two polls");
    }
    assert_eq!(idempotency_key(), None);
    let dropped = one_key(&keys, 1);
    registry.scope(fails(&keys)).await.unwrap_err();
    assert_ne!(one_key(&keys, 6), dropped);

    // The tasks of this runtime share the thread.
    let panics = with_idempotency_key(IdempotencyKey::random(), async { panic!("inside") });
    let joined: Result<(), _> = tokio::spawn(panics).await;
    assert!(joined.unwrap_err().is_panic());
    assert_eq!(idempotency_key(), None);
}

#[tokio::test]
async fn a_retry_that_is_switched_off_makes_a_key_too() {
    let keys = Keys::default();
    let config = Config::builder().env(false).set("retry.instances.fails.enabled", "false");
    let registry = Resilience::from_config(config.load().unwrap()).unwrap();
    registry.scope(fails(&keys)).await.unwrap_err();
    one_key(&keys, 2);
}

#[retry(name = "plain", max_attempts = 2, wait_duration = "1ms")]
async fn plain(keys: &Keys) -> Result<(), Failed> {
    note(keys);
    Err("down".into())
}

#[tokio::test(start_paused = true)]
async fn without_the_flag_there_is_no_key() {
    let (keys, registry) = (Keys::default(), registry());
    registry.scope(plain(&keys)).await.unwrap_err();
    assert_eq!(*keys.lock().unwrap(), [None, None]);
}

#[retry(name = "around", max_attempts = 2, wait_duration = "1ms", idempotency_key)]
async fn around(outer: &Keys, shared: &Keys, own: &Keys) -> Result<(), Failed> {
    note(outer);
    let _ = plain(shared).await;
    let _ = fails(own).await;
    note(outer);
    Err("down".into())
}

#[tokio::test(start_paused = true)]
async fn a_nested_retry_without_the_flag_shares_the_key_and_one_with_it_has_its_own() {
    let (outer, shared, own) = (Keys::default(), Keys::default(), Keys::default());
    registry().scope(around(&outer, &shared, &own)).await.unwrap_err();
    let key = one_key(&outer, 4);
    assert_eq!(one_key(&shared, 4), key);
    let own = std::mem::take(&mut *own.lock().unwrap());
    let (first, second) = own.split_at(6);
    let [first, second] = [first, second].map(|keys| one_key(&Mutex::new(keys.to_vec()), 6));
    assert!(first != key && second != key, "another call, another key");
    assert_ne!(first, second, "and another one in each attempt of the call around it");
}

async fn answers(keys: &Keys, error: CallError<Failed>) -> Result<(), Failed> {
    let _ = error;
    note(keys);
    tokio::task::yield_now().await;
    note(keys);
    Ok(())
}

#[retry(name = "answered", wait_duration = "1ms", idempotency_key, fallback = answers)]
async fn answered(keys: &Keys) -> Result<(), Failed> {
    note(keys);
    Err("down".into())
}

#[tokio::test(start_paused = true)]
async fn the_fallback_has_the_key_of_the_call_that_it_answers() {
    let keys = Keys::default();
    registry().scope(answered(&keys)).await.unwrap();
    one_key(&keys, 5);
}

// Where it goes.

#[retry(name = "detached", wait_duration = "1ms", idempotency_key)]
#[time_limiter(name = "detached", detach)]
async fn detached() -> Result<Option<IdempotencyKey>, Error> {
    tokio::task::yield_now().await;
    Ok(idempotency_key())
}

#[retry(name = "pool", idempotency_key)]
#[bulkhead(name = "pool", type = "thread_pool")]
fn on_a_thread() -> Result<Option<IdempotencyKey>, Error> {
    Ok(idempotency_key())
}

#[tokio::test]
async fn it_follows_into_spawn_detached_bodies_and_threads_but_not_into_a_bare_spawn() {
    let registry = registry();
    assert!(registry.scope(detached()).await.unwrap().is_some());
    assert!(registry.scope(on_a_thread()).await.unwrap().is_some());
    let key = IdempotencyKey::random();
    let keys = with_idempotency_key(key, async {
        let spawned = registry.spawn(async { idempotency_key() }).await.unwrap();
        (spawned, tokio::spawn(async { idempotency_key() }).await.unwrap())
    });
    assert_eq!(keys.await, (Some(key), None));
}

#[tokio::test(start_paused = true)]
async fn a_key_and_a_deadline_do_not_take_each_others_place() {
    let key = IdempotencyKey::random();
    let both = async { (idempotency_key(), resilience::deadline().is_some()) };
    let within = resilience::with_deadline(MILLISECOND, both);
    assert_eq!(with_idempotency_key(key, within).await, (Some(key), true));
    let both = async { (idempotency_key(), resilience::deadline().is_some()) };
    let within = with_idempotency_key(key, both);
    assert_eq!(resilience::with_deadline(MILLISECOND, within).await, (Some(key), true));
}

struct Shop {
    keys: Keys,
}

impl Shop {
    #[retry(name = "sell", wait_duration = "1ms", idempotency_key, mut_ok)]
    #[time_limiter(name = "sell")]
    async fn sell(&mut self, sold: String, (pieces, _): (u32, u32)) -> Result<String, Failed> {
        note(&self.keys);
        if self.keys.lock().unwrap().len() < 3 {
            return Err("down".into());
        }
        Ok(format!("{pieces} {sold}"))
    }

    #[retry(name = "boxed", wait_duration = "1ms", idempotency_key)]
    fn quote(&self) -> impl Future<Output = Result<Option<IdempotencyKey>, Error>> + Send + '_ {
        async move { Ok(idempotency_key()) }
    }
}

#[tokio::test(start_paused = true)]
async fn methods_with_arguments_of_every_kind_can_have_it() {
    let mut shop = Shop { keys: Keys::default() };
    let registry = registry();
    let sold = registry.scope(shop.sell("books".to_owned(), (3, 0))).await;
    assert_eq!(sold.unwrap(), "3 books");
    one_key(&shop.keys, 3);
    assert!(registry.scope(shop.quote()).await.unwrap().is_some());
}

// Stacks, and what makes no keys itself.

#[tokio::test(start_paused = true)]
async fn a_stack_gives_each_call_a_key_in_whichever_order_its_layers_are() {
    let keys = Keys::default();
    let limiter = || TimeLimiter::new("t", TimeLimiterConfig::default());
    for builder in [
        Stack::builder().retry(quick_retry("r")).time_limiter(limiter()),
        Stack::builder().time_limiter(limiter()).retry(quick_retry("r")),
    ] {
        let stack = builder.clone().idempotency_key().build();
        let call = || {
            stack.call(|| {
                note(&keys);
                async {
                    note(&keys);
                    Err::<(), _>("down")
                }
            })
        };
        call().await.unwrap_err();
        let first = one_key(&keys, 6);
        call().await.unwrap_err();
        assert_ne!(one_key(&keys, 6), first);

        let calls = stack.protect::<(), &str>().fallback(async |_: &str| {
            note(&keys);
            Ok(())
        });
        let answered = calls.call(|| async {
            note(&keys);
            Err("down")
        });
        assert_eq!(answered.await, Ok(()));
        one_key(&keys, 4);

        let without = builder.build();
        let key = without.call(|| async { Ok::<_, &str>(idempotency_key()) });
        assert_eq!(key.await, Ok(None));
    }
    assert_eq!(idempotency_key(), None);
}

#[test]
fn a_blocking_call_through_a_stack_has_a_key() {
    let keys = Keys::default();
    let stack = Stack::builder().retry(quick_retry("r")).idempotency_key().build();
    let call = || {
        stack.call_blocking(|| {
            note(&keys);
            Err::<(), _>("down")
        })
    };
    call().unwrap_err();
    let first = one_key(&keys, 3);
    call().unwrap_err();
    assert_ne!(one_key(&keys, 3), first);
    assert_eq!(idempotency_key(), None);
}

#[tokio::test(start_paused = true)]
async fn a_key_from_outside_is_that_of_a_lone_retry() {
    let (keys, key) = (Keys::default(), IdempotencyKey::random());
    let retry = quick_retry("lone");
    let call = retry.call(|| async {
        note(&keys);
        Err::<(), _>("down")
    });
    with_idempotency_key(key, call).await.unwrap_err();
    assert_eq!(one_key(&keys, 3), key);
}
