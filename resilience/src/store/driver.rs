//! The thread that speaks with the server.

use std::{
    future::Future,
    io,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value};
use tokio::{
    runtime::Handle,
    sync::{
        mpsc::{self, error::TrySendError},
        oneshot,
    },
    task::JoinHandle,
};

use super::{
    Key, Regular, Script, StoreConfig, StoreFailure,
    answer::{Reply, read},
    connection::{BEFORE_THE_NEXT_NODE, Connection},
    guard::{Guard, Permit},
    health::Health,
    link::Link,
    lookout::Lookout,
    regular::{repeat, tell},
};
use crate::aftermath::Aftermath;

/// How many decisions wait for the thread at most.
const QUEUE: usize = 16_384;

/// How often a decision waits for a slot that moves from one node to another: for a short move. A long one
/// is told as what it is, which a decision whose time is over could not be.
const WAITS_FOR_A_SLOT: u32 = 10;

/// One decision that is asked for.
pub(super) struct Job {
    pub(super) script: &'static Script,
    pub(super) key: Key,
    pub(super) arguments: Vec<String>,
    pub(super) permit: Permit,
    pub(super) due: Instant,
    pub(super) reply: oneshot::Sender<Result<Reply, StoreFailure>>,
}

/// A handle of the thread, which ends with the last of them.
#[derive(Clone)]
pub(super) struct Driver {
    jobs: mpsc::Sender<Job>,
    runtime: Handle,
}

impl Driver {
    pub(super) fn start(
        config: Arc<StoreConfig>,
        guard: Guard,
        health: Arc<Health>,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let driver_runtime = runtime.handle().clone();
        let (sender, jobs) = mpsc::channel(QUEUE);
        let answers_within = config.decision_timeout();
        let link = Link::new(config);
        let lookout = Lookout::new(link.clone(), guard.clone(), answers_within);
        let served = Served { link, guard, lookout, health, answers_within };
        thread::Builder::new()
            .name("resilience-store".into())
            .spawn(move || runtime.block_on(serve(Arc::new(served), jobs)))?;
        Ok(Self { jobs: sender, runtime: driver_runtime })
    }

    /// Hands a job over. One that finds no room is given back.
    pub(super) fn send(&self, job: Job) -> Result<(), Box<Job>> {
        self.jobs.try_send(job).map_err(|refused| match refused {
            TrySendError::Full(job) | TrySendError::Closed(job) => Box::new(job),
        })
    }

    /// Has news told where it holds up nobody.
    pub(super) fn tell(&self, news: Option<Aftermath>) {
        let _runtime = self.runtime.enter();
        tell(news);
    }

    pub(super) fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.runtime.spawn(future)
    }

    pub(super) fn repeat(&self, regular: impl Regular) {
        self.runtime.spawn(repeat(regular));
    }
}

/// What the decisions have in common.
struct Served {
    link: Link,
    guard: Guard,
    lookout: Lookout,
    health: Arc<Health>,
    answers_within: Duration,
}

async fn serve(served: Arc<Served>, mut jobs: mpsc::Receiver<Job>) {
    // The first decision should find a connection.
    tokio::spawn({
        let served = Arc::clone(&served);
        async move { drop(served.link.get().await) }
    });
    let (decides, mut all_decided) = mpsc::channel::<()>(1);
    while let Some(job) = jobs.recv().await {
        let (served, decides) = (Arc::clone(&served), decides.clone());
        tokio::spawn(async move {
            served.decide(job).await;
            drop(decides);
        });
    }
    // Nobody waits for answers any more, and still a key may have to be let go of. Each has its time.
    drop(decides);
    all_decided.recv().await;
}

impl Served {
    async fn decide(&self, job: Job) {
        let Job { script, key, arguments, permit, due, reply } = job;
        let (answer, connection) = match in_time(due, self.link.get()).await {
            Err(failure) => (Err(failure), None),
            Ok((connection, number)) => {
                let asked = ask(connection, script, key.as_str(), &arguments);
                (in_time(due, asked).await, Some(number))
            }
        };
        match answer {
            Err(failure) if failure.blames_server() => {
                permit.failure(Instant::now(), fastrand::f64() * 2.0 - 1.0);
                // One that has gone silent is not trusted to come back to life.
                let is_left_alone = !self.guard.is_closed();
                let is_bad = failure.breaks_connection() || is_left_alone;
                if let Some(number) = connection.filter(|_| is_bad) {
                    self.link.discard(number);
                }
                if is_left_alone {
                    self.lookout.start();
                }
            }
            _ => permit.success(),
        }
        tell(self.health.note(answer.as_ref().err().copied()));
        if let (Err(_), Some(undo)) = (reply.send(answer), script.undo()) {
            // Only now: what was sent before has not overtaken it.
            let undone =
                async { ask(self.link.get().await?.0, undo, key.as_str(), &arguments).await };
            let _ = in_time(self::due(self.answers_within), undone).await;
        }
    }
}

async fn in_time<T>(
    due: Instant,
    answer: impl Future<Output = Result<T, StoreFailure>>,
) -> Result<T, StoreFailure> {
    if Instant::now() >= due {
        // The timer would ask the future first, and that the server.
        return Err(StoreFailure::Timeout);
    }
    let answer = tokio::time::timeout_at(due.into(), answer).await;
    answer.unwrap_or(Err(StoreFailure::Timeout))
}

async fn ask(
    mut connection: Connection,
    script: &Script,
    key: &str,
    arguments: &[String],
) -> Result<Reply, StoreFailure> {
    let answer = match run(&mut connection, &script.first(key, arguments)).await {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            run(&mut connection, &script.by_body(key, arguments)).await
        }
        answer => answer,
    };
    answer.map_err(|error| StoreFailure::of(&error)).and_then(read)
}

/// Sends a command, to a cluster again for as long as it was the wrong node, which did not carry it
/// out.
async fn run(connection: &mut Connection, command: &Cmd) -> Result<Value, RedisError> {
    let mut waits_for_slot = 0;
    loop {
        match connection.run(command).await {
            Err(error) if connection.learns() => match StoreFailure::of(&error) {
                StoreFailure::Moved => {}
                StoreFailure::Migrating if waits_for_slot < WAITS_FOR_A_SLOT => waits_for_slot += 1,
                _ => return Err(error),
            },
            answer => return answer,
        }
        tokio::time::sleep(BEFORE_THE_NEXT_NODE).await;
    }
}

/// For how long a decision of this age may still take.
pub(super) fn due(timeout: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(timeout).unwrap_or(now)
}
