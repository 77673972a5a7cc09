use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    config::ThreadPoolBulkheadConfig,
    engine::{Engine, Limits, Submission},
    job::{Call, Desk, Job, Task},
    metrics::ThreadPoolBulkheadMetrics,
    worker,
};
use crate::{
    BulkheadFull, CallError, Clock,
    aftermath::Aftermath,
    bulkhead::{BulkheadEvent, BulkheadEventKind},
    events::Events,
    registry,
    sync::plain::{Condvar, Mutex, MutexGuard},
    trace::{CallSpan, Named, RefusalLog},
};

/// Runs blocking functions on a bounded pool of threads.
///
/// A cheap handle: clones are the same instance. Its threads end when the last handle is gone.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use resilience::{ThreadPoolBulkhead, ThreadPoolBulkheadConfig};
///
/// let pool = ThreadPoolBulkhead::new("reports", ThreadPoolBulkheadConfig::default());
/// let report = pool.call(|| std::fs::read_to_string("Cargo.toml")).await?;
/// assert!(report.contains("resilience"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ThreadPoolBulkhead {
    handle: Arc<Handle>,
}

/// What handles share and threads do not: its drop closes the pool.
struct Handle {
    shared: Arc<Shared>,
}

/// What clones share.
pub(super) struct Shared {
    pub(super) name: Arc<str>,
    pub(super) clock: Clock,
    pub(super) events: Events<BulkheadEvent>,
    refusal_log: RefusalLog,
    enabled: AtomicBool,
    pub(super) state: Mutex<State>,
    /// Tells waiting threads of a task, of other settings, of the end.
    pub(super) wake: Condvar,
}

/// What the lock guards.
pub(super) struct State {
    pub(super) engine: Engine<Box<dyn Task>>,
    pub(super) config: Arc<ThreadPoolBulkheadConfig>,
    pub(super) closed: bool,
    pub(super) permitted: u64,
    pub(super) rejected: u64,
    pub(super) finished: u64,
    pub(super) cancelled: u64,
}

impl ThreadPoolBulkhead {
    /// Makes an instance on the system clock. It starts its threads when calls come.
    pub fn new(name: impl Into<Arc<str>>, config: ThreadPoolBulkheadConfig) -> Self {
        Self::with_clock(name, config, Clock::system())
    }

    /// Makes an instance whose events take their time from `clock`. The keep-alive time of idle
    /// threads is real time.
    pub fn with_clock(
        name: impl Into<Arc<str>>,
        config: ThreadPoolBulkheadConfig,
        clock: Clock,
    ) -> Self {
        let shared = Shared {
            name: name.into(),
            clock,
            events: Events::new(config.event_consumer_buffer_size()),
            refusal_log: RefusalLog::default(),
            enabled: AtomicBool::new(config.is_enabled()),
            state: Mutex::new(State {
                engine: Engine::new(limits(&config)),
                config: Arc::new(config),
                closed: false,
                permitted: 0,
                rejected: 0,
                finished: 0,
                cancelled: 0,
            }),
            wake: Condvar::default(),
        };
        Self { handle: Arc::new(Handle { shared: Arc::new(shared) }) }
    }

    /// Returns the name of the instance.
    pub fn name(&self) -> &str {
        &self.shared().name
    }

    /// Returns the settings in force.
    pub fn config(&self) -> Arc<ThreadPoolBulkheadConfig> {
        Arc::clone(&self.shared().state.lock().config)
    }

    /// Returns the events of the instance: `CALL_PERMITTED` when a thread begins a call,
    /// `CALL_FINISHED` when it has ended, `CALL_REJECTED`.
    pub fn events(&self) -> Events<BulkheadEvent> {
        self.shared().events.clone()
    }

    /// Tells what the pool looks like now.
    pub fn metrics(&self) -> ThreadPoolBulkheadMetrics {
        let state = self.shared().state.lock();
        let Limits { core, max, capacity } = state.engine.limits();
        let (queued, active) = (state.engine.queued(), state.engine.active());
        let count = |n: usize| n as u64;
        ThreadPoolBulkheadMetrics {
            core_thread_pool_size: count(core),
            max_thread_pool_size: count(max),
            thread_pool_size: count(state.engine.size()),
            queue_depth: count(queued),
            remaining_queue_capacity: count(capacity.saturating_sub(queued)),
            queue_capacity: count(capacity),
            active_thread_count: count(active),
            available_thread_count: count(max.saturating_sub(active)),
            permitted: state.permitted,
            rejected: state.rejected,
            finished: state.finished,
            cancelled: state.cancelled,
        }
    }

    /// Runs `body` on a thread of the pool, in the registry scope and the span of its caller.
    ///
    /// # Errors
    ///
    /// [`CallError::Resilience`] when there is neither a thread nor room in the queue, or the system
    /// gives no thread; [`CallError::Inner`] when the body fails.
    ///
    /// # Panics
    ///
    /// With the panic of the body. The pool keeps its thread.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes a queued call out of the queue. A running one runs on and keeps its
    /// thread until it ends.
    pub async fn call<T, E>(
        &self,
        body: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, CallError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let refused = |full: BulkheadFull| CallError::Resilience(full.into());
        let mut span = CallSpan::start(|| self.names());
        let call = async {
            self.submit(body).map_err(refused)?.await.map_err(refused)?.map_err(CallError::Inner)
        };
        let result = span.around(call).await;
        span.end(&result);
        result
    }

    /// Puts `body` on a thread or in the queue. The job tells of a refusal where the system gives no
    /// thread.
    pub(crate) fn submit<R: Send + 'static>(
        &self,
        body: impl FnOnce() -> R + Send + 'static,
    ) -> Result<Job<R>, BulkheadFull> {
        let body = registry::in_present_scope_sync(body);
        let desk = Desk::new();
        let task: Box<dyn Task> = Box::new(Call::new(body, Arc::clone(&desk)));
        let shared = self.shared();
        if !self.is_enabled() {
            return self.run_alone(task).map(|()| Job::on_own_thread(desk));
        }
        let mut state = shared.state.lock();
        if !state.config.is_enabled() {
            // Disabled since the look outside of the lock: nobody would empty the queue again.
            drop(state);
            return self.run_alone(task).map(|()| Job::on_own_thread(desk));
        }
        let submission = state.engine.submit(task);
        if let Submission::Rejected(task) = submission {
            state.rejected += 1;
            let noted = shared.note(BulkheadEventKind::CallRejected);
            drop(state);
            // What the body owns goes after the lock: it may own a handle of this pool.
            drop(task);
            shared.events.deliver_if(noted);
            return Err(self.refuse());
        }
        drop(state);
        let id = match submission {
            Submission::Start { id } => {
                if worker::start(shared).is_err() {
                    self.not_started(id);
                }
                id
            }
            Submission::Wake { id } => {
                shared.wake.notify_one();
                id
            }
            Submission::Queued { id } => id,
            Submission::Rejected(_) => return Err(self.refuse()),
        };
        Ok(Job::on_pool(desk, self.clone(), id))
    }

    /// Says whether the instance acts, until it is said again or a reload changes the instance.
    ///
    /// With a disabled bulkhead every call gets a thread of its own and none is counted, those that are
    /// queued among them.
    ///
    /// [`Resilience::set_enabled`](crate::Resilience::set_enabled) does it for a whole pattern; there
    /// it says how this goes together with `enabled` in files and the environment.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{ThreadPoolBulkhead, ThreadPoolBulkheadConfig};
    ///
    /// let pool = ThreadPoolBulkhead::new("reports", ThreadPoolBulkheadConfig::default());
    /// pool.set_enabled(false);
    /// assert!(!pool.is_enabled());
    /// ```
    pub fn set_enabled(&self, on: bool) {
        drop(self.enable(on));
    }

    pub(crate) fn enable(&self, on: bool) -> Aftermath {
        self.replace_config(|config| config.with_enabled(on))
    }

    /// Tells whether the bulkhead acts; with a disabled one every call gets a thread of its own.
    pub fn is_enabled(&self) -> bool {
        self.shared().enabled.load(Ordering::Relaxed)
    }

    /// Puts other settings in force. Nothing that runs or is queued is taken back; what is queued gets
    /// threads of its own where the bulkhead is disabled.
    pub(crate) fn reconfigure(&self, config: ThreadPoolBulkheadConfig) -> Aftermath {
        self.replace_config(|_| config)
    }

    fn replace_config(
        &self,
        edit: impl FnOnce(&ThreadPoolBulkheadConfig) -> ThreadPoolBulkheadConfig,
    ) -> Aftermath {
        let shared = self.shared();
        let (alone, start) = {
            let mut state = shared.state.lock();
            let config = Arc::new(edit(&state.config));
            shared.events.set_capacity(config.event_consumer_buffer_size());
            shared.enabled.store(config.is_enabled(), Ordering::Relaxed);
            let alone = if config.is_enabled() { Vec::new() } else { state.engine.take_queue() };
            let start = state.engine.set_limits(limits(&config));
            state.config = config;
            (alone, start)
        };
        let pool = self.clone();
        Aftermath::new(move || pool.start_threads(alone, start))
    }

    /// Gives threads to what is to run outside of the pool, and to queued tasks of these ids.
    fn start_threads(&self, alone: Vec<Box<dyn Task>>, start: Vec<u64>) {
        let shared = self.shared();
        // Idle threads may be surplus now, or wait by another keep-alive time.
        shared.wake.notify_all();
        for task in alone {
            if let Err(task) = worker::start_alone(&shared.name, task) {
                self.refuse_queued(task);
            }
        }
        for id in start.into_iter().rev() {
            if worker::start(shared).is_err() {
                let mut state = shared.state.lock();
                if state.engine.requeue(id) {
                    shared.wake.notify_one();
                }
                self.reject_stranded(state, None);
            }
        }
    }

    fn not_started(&self, id: u64) {
        let mut state = self.shared().state.lock();
        let task = state.engine.start_failed(id);
        self.reject_stranded(state, task);
    }

    /// Refuses a task for which there is no thread, and what is queued if there is none at all: it
    /// would wait until somebody calls again, possibly for ever.
    fn reject_stranded(&self, mut state: MutexGuard<'_, State>, task: Option<Box<dyn Task>>) {
        let shared = self.shared();
        let mut rejected = state.engine.take_stranded();
        rejected.extend(task);
        let mut noted = false;
        for _ in &rejected {
            state.rejected += 1;
            noted |= shared.note(BulkheadEventKind::CallRejected);
        }
        drop(state);
        for task in rejected {
            self.refuse_queued(task);
        }
        shared.events.deliver_if(noted);
    }

    /// Call it without the lock: what the body owns goes, and that may be a handle of this pool.
    fn refuse_queued(&self, task: Box<dyn Task>) {
        let full = self.refuse();
        worker::contain(|| task.refuse(full));
    }

    fn run_alone(&self, task: Box<dyn Task>) -> Result<(), BulkheadFull> {
        worker::start_alone(&self.shared().name, task).map_err(|_| self.refuse())
    }

    pub(super) fn withdraw(&self, id: u64) {
        let task = {
            let mut state = self.shared().state.lock();
            let task = state.engine.withdraw(id);
            state.cancelled += u64::from(task.is_some());
            task
        };
        // As in `submit`: after the lock.
        drop(task);
    }

    /// Refuses a call. The lock is released.
    fn refuse(&self) -> BulkheadFull {
        let Shared { name, clock, refusal_log, .. } = &**self.shared();
        if RefusalLog::is_wanted() {
            refusal_log.refused("bulkhead", name, clock.now());
        }
        self.full()
    }

    fn full(&self) -> BulkheadFull {
        BulkheadFull::new(Arc::clone(&self.shared().name).into())
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.handle.shared
    }
}

impl Shared {
    /// Queues an event if somebody listens, and tells so. Call it with the state locked: the lock
    /// orders the events.
    pub(super) fn note(&self, kind: BulkheadEventKind) -> bool {
        self.events.note(&self.name, || self.clock.now(), kind)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.state.lock().closed = true;
        self.shared.wake.notify_all();
    }
}

fn limits(config: &ThreadPoolBulkheadConfig) -> Limits {
    let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    Limits {
        core: size(config.core_thread_pool_size()),
        max: size(config.max_thread_pool_size()),
        capacity: size(config.queue_capacity()),
    }
}

impl fmt::Debug for ThreadPoolBulkhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metrics = self.metrics();
        f.debug_struct("ThreadPoolBulkhead")
            .field("name", &self.shared().name)
            .field("active_thread_count", &metrics.active_thread_count)
            .field("max_thread_pool_size", &metrics.max_thread_pool_size)
            .field("queue_depth", &metrics.queue_depth)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::AssertUnwindSafe,
        sync::mpsc::{Receiver, Sender, channel},
        time::Duration,
    };

    use super::*;
    use crate::events::Event;

    /// How long a test waits for a thread before it fails.
    const PATIENCE: Duration = Duration::from_secs(30);

    fn pool(core: u32, max: u32, queue: u32) -> ThreadPoolBulkhead {
        let config = ThreadPoolBulkheadConfig::builder()
            .core_thread_pool_size(core)
            .max_thread_pool_size(max)
            .queue_capacity(queue)
            .keep_alive_duration(Duration::from_hours(1))
            .build()
            .unwrap();
        ThreadPoolBulkhead::with_clock("reports", config, Clock::manual(Duration::ZERO).0)
    }

    /// A job that runs until its sender is dropped, and has begun when this returns.
    fn blocked(pool: &ThreadPoolBulkhead) -> (Job<()>, Sender<()>) {
        let (begun, has_begun) = channel();
        let (job, end) = blocking(pool, begun);
        has_begun.recv_timeout(PATIENCE).unwrap();
        (job, end)
    }

    fn blocking(pool: &ThreadPoolBulkhead, begun: Sender<()>) -> (Job<()>, Sender<()>) {
        let (end, ended) = channel::<()>();
        let job = pool.submit(move || {
            begun.send(()).unwrap();
            let _ = ended.recv();
        });
        (job.unwrap(), end)
    }

    fn ends(pool: &ThreadPoolBulkhead) -> Receiver<()> {
        let (tell, told) = channel();
        pool.events()
            .subscribe(move |event: &BulkheadEvent| {
                if event.type_name() == "CALL_FINISHED" {
                    let _ = tell.send(());
                }
            })
            .forever();
        told
    }

    #[tokio::test]
    async fn a_call_returns_what_its_body_returns() {
        let pool = pool(1, 1, 1);
        assert_eq!(pool.call(|| Ok::<_, ()>(1)).await, Ok(1));
        assert_eq!(pool.call(|| Err::<(), _>(2)).await, Err(CallError::Inner(2)));
        let metrics = pool.metrics();
        assert_eq!((metrics.permitted, metrics.finished, metrics.rejected), (2, 2, 0));
    }

    #[tokio::test]
    async fn the_thread_is_free_again_when_the_caller_hears_of_the_result() {
        let pool = pool(1, 1, 0);
        for _ in 0..100 {
            pool.call(|| Ok::<_, ()>(())).await.unwrap();
            assert_eq!(pool.metrics().available_thread_count, 1);
        }
        assert_eq!(pool.metrics().thread_pool_size, 1);
    }

    #[tokio::test]
    async fn a_call_beyond_threads_and_queue_is_refused() {
        let pool = pool(1, 1, 1);
        let (_running, _end) = blocked(&pool);
        let _queued = pool.submit(|| ()).unwrap();
        let refused = pool.call(|| Ok::<_, ()>(())).await;
        let Err(CallError::Resilience(error)) = refused else { panic!("{refused:?}") };
        assert_eq!(
            error.to_string(),
            "Bulkhead 'reports' is full and does not permit further calls"
        );
        assert_eq!(pool.metrics().rejected, 1);
    }

    #[tokio::test]
    async fn a_panic_goes_on_in_the_caller_and_costs_no_thread() {
        let pool = pool(1, 1, 1);
        let job = pool.submit(|| -> () { panic!("body") }).unwrap();
        let panic = tokio::spawn(job).await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"body"));
        assert_eq!(pool.call(|| Ok::<_, ()>(1)).await, Ok(1));
        assert_eq!(pool.metrics().thread_pool_size, 1);
    }

    #[tokio::test]
    async fn a_result_that_panics_when_dropped_costs_no_thread() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let pool = pool(1, 1, 1);
        let (end, ended) = channel::<()>();
        let (begun, has_begun) = channel();
        let job = pool
            .submit(move || {
                begun.send(()).unwrap();
                let _ = ended.recv();
                Bomb
            })
            .unwrap();
        has_begun.recv_timeout(PATIENCE).unwrap();
        drop(job);
        drop(end);
        assert_eq!(pool.call(|| Ok::<_, ()>(1)).await, Ok(1));
        assert_eq!(pool.metrics().thread_pool_size, 1);
    }

    #[tokio::test]
    async fn a_dropped_job_leaves_the_queue() {
        let pool = pool(1, 1, 1);
        let (running, end) = blocked(&pool);
        let (ran, has_run) = channel::<()>();
        drop(pool.submit(move || ran.send(())).unwrap());
        assert_eq!(pool.metrics().queue_depth, 0);
        assert_eq!(pool.metrics().cancelled, 1);
        drop(end);
        running.await.unwrap();
        assert!(has_run.recv().is_err(), "it never ran");
    }

    #[test]
    fn a_job_that_is_dropped_while_it_runs_keeps_its_thread_until_it_ends() {
        let pool = pool(1, 1, 0);
        let ends = ends(&pool);
        let (running, end) = blocked(&pool);
        drop(running);
        assert_eq!(pool.metrics().available_thread_count, 0);
        assert!(pool.submit(|| ()).is_err());
        drop(end);
        ends.recv_timeout(PATIENCE).unwrap();
        assert_eq!(pool.metrics().available_thread_count, 1);
    }

    #[test]
    fn events_tell_of_begin_end_and_refusal() {
        let pool = pool(1, 1, 0);
        pool.events().capture(true);
        let ends = ends(&pool);
        let (_running, end) = blocked(&pool);
        pool.submit(|| ()).unwrap_err();
        drop(end);
        ends.recv_timeout(PATIENCE).unwrap();
        let types: Vec<_> = pool.events().recent().iter().map(|e| e.type_name).collect();
        assert_eq!(types, ["CALL_PERMITTED", "CALL_REJECTED", "CALL_FINISHED"]);
    }

    #[tokio::test]
    async fn threads_carry_the_name_of_the_instance() {
        let pool = pool(1, 1, 0);
        let name = pool
            .submit(|| std::thread::current().name().map(str::to_owned))
            .unwrap()
            .await
            .unwrap();
        assert_eq!(name.as_deref(), Some("bulkhead-reports"));
    }

    #[tokio::test]
    async fn a_name_that_no_thread_can_have_is_no_obstacle() {
        let config = ThreadPoolBulkheadConfig::default();
        let pool = ThreadPoolBulkhead::new("a\0b", config);
        let name = pool
            .submit(|| std::thread::current().name().map(str::to_owned))
            .unwrap()
            .await
            .unwrap();
        assert_eq!(name.as_deref(), Some("bulkhead-a_b"));
    }

    #[test]
    fn threads_end_when_the_last_handle_is_gone() {
        struct Left(Sender<()>);
        impl Drop for Left {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        thread_local! {
            static LEFT: std::cell::RefCell<Option<Left>> = const { std::cell::RefCell::new(None) };
        }
        let pool = pool(1, 1, 0);
        let ends = ends(&pool);
        let (leave, left) = channel();
        let job = pool.submit(move || LEFT.set(Some(Left(leave)))).unwrap();
        ends.recv_timeout(PATIENCE).unwrap();
        drop(job);
        let clone = pool.clone();
        drop(pool);
        assert!(left.try_recv().is_err(), "a handle is left");
        drop(clone);
        left.recv_timeout(PATIENCE).unwrap();
    }

    #[test]
    fn dropping_the_last_handle_does_not_wait_for_running_calls() {
        let pool = pool(1, 1, 0);
        let (running, end) = blocked(&pool);
        drop(pool);
        drop(running);
        assert!(end.send(()).is_ok(), "the call still runs");
    }

    #[tokio::test]
    async fn a_job_keeps_the_pool_alive() {
        let pool = pool(1, 1, 1);
        let (_running, end) = blocked(&pool);
        let queued = pool.submit(|| 7).unwrap();
        drop(pool);
        drop(end);
        assert_eq!(queued.await, Ok(7));
    }

    #[tokio::test]
    async fn surplus_threads_end_after_the_keep_alive_time() {
        let pool = pool(1, 2, 0);
        let ends = ends(&pool);
        let (_core, core_end) = blocked(&pool);
        let (_surplus, surplus_end) = blocked(&pool);
        assert_eq!(pool.metrics().thread_pool_size, 2);
        drop((core_end, surplus_end));
        ends.recv_timeout(PATIENCE).unwrap();
        ends.recv_timeout(PATIENCE).unwrap();
        let config = pool.config().to_builder().keep_alive_duration(Duration::ZERO);
        pool.reconfigure(config.build().unwrap());
        while pool.metrics().thread_pool_size > 1 {
            std::thread::yield_now();
        }
        assert_eq!(pool.call(|| Ok::<_, ()>(1)).await, Ok(1));
        assert_eq!(pool.metrics().thread_pool_size, 1);
    }

    #[test]
    fn a_raised_core_size_starts_what_is_queued() {
        let pool = pool(1, 1, 1);
        let (_running, _end) = blocked(&pool);
        let (begun, has_begun) = channel();
        let (_queued, _end_of_queued) = blocking(&pool, begun);
        let config = pool.config().to_builder().core_thread_pool_size(2).max_thread_pool_size(2);
        pool.reconfigure(config.build().unwrap());
        has_begun.recv_timeout(PATIENCE).unwrap();
        assert_eq!(pool.metrics().active_thread_count, 2);
    }

    #[tokio::test]
    async fn a_disabled_bulkhead_gives_every_call_a_thread_and_counts_nothing() {
        let pool = pool(1, 1, 0);
        let (_running, _end) = blocked(&pool);
        pool.reconfigure(pool.config().to_builder().enabled(false).build().unwrap());
        assert_eq!(pool.call(|| Ok::<_, ()>(1)).await, Ok(1));
        assert_eq!(pool.metrics().permitted, 1);
    }

    #[tokio::test]
    async fn a_call_queued_behind_a_thread_that_never_started_is_refused() {
        let pool = pool(1, 1, 1);
        pool.events().capture(true);
        let desk = Desk::new();
        let task = Box::new(Call::new(|| (), Arc::clone(&desk)));
        let submission = pool.shared().state.lock().engine.submit(task);
        let Submission::Start { id } = submission else { panic!("a thread was there") };
        let started = Job::on_pool(desk, pool.clone(), id);
        let queued = pool.submit(|| ()).unwrap();
        pool.not_started(id);
        assert_eq!(started.await, Err(pool.full()));
        assert_eq!(queued.await, Err(pool.full()));
        assert_eq!((pool.metrics().rejected, pool.events().recent().len()), (2, 2));
        assert_eq!(pool.call(|| Ok::<_, ()>(1)).await, Ok(1));
    }

    #[tokio::test]
    async fn disabling_a_bulkhead_gives_what_is_queued_threads_of_its_own() {
        let pool = pool(1, 1, 2);
        let (_running, _end) = blocked(&pool);
        let queued = [pool.submit(|| 1).unwrap(), pool.submit(|| 2).unwrap()];
        pool.reconfigure(pool.config().to_builder().enabled(false).build().unwrap());
        let [first, second] = queued;
        assert_eq!((first.await, second.await), (Ok(1), Ok(2)));
        assert_eq!(pool.metrics().queue_depth, 0);
    }

    #[test]
    fn a_reload_changes_how_many_events_are_kept() {
        let pool = pool(1, 1, 0);
        pool.events().capture(true);
        pool.reconfigure(pool.config().to_builder().event_consumer_buffer_size(1).build().unwrap());
        let (_running, _end) = blocked(&pool);
        pool.submit(|| ()).unwrap_err();
        assert_eq!(pool.events().recent().len(), 1);
    }

    #[test]
    fn the_last_handle_may_be_dropped_by_a_call_that_runs() {
        let pool = pool(1, 1, 0);
        let ends = ends(&pool);
        let own = pool.clone();
        let (begun, has_begun) = channel();
        let (end, ended) = channel::<()>();
        let job = pool.submit(move || {
            begun.send(()).unwrap();
            let _ = ended.recv();
            drop(own);
        });
        has_begun.recv_timeout(PATIENCE).unwrap();
        drop((job, pool, end));
        ends.recv_timeout(PATIENCE).unwrap();
    }

    #[test]
    fn a_refused_body_is_dropped_outside_of_the_lock() {
        struct Looks(ThreadPoolBulkhead);
        impl Drop for Looks {
            fn drop(&mut self) {
                assert_eq!(self.0.metrics().active_thread_count, 1);
            }
        }
        let pool = pool(1, 1, 0);
        let (_running, _end) = blocked(&pool);
        let looks = Looks(pool.clone());
        let refused = std::panic::catch_unwind(AssertUnwindSafe(|| {
            pool.submit(move || drop(looks)).is_err()
        }));
        assert!(refused.unwrap());
    }
}
