use std::time::Duration;

use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep_until},
};

use super::{Answer, Reply, Undecided};
use crate::aftermath::Aftermath;

/// Something that speaks with a store again and again, on the store's thread: nothing may block there.
pub(crate) trait Regular: Send + 'static {
    /// Begins the next turn; `None` ends it all.
    fn ask(&mut self) -> Option<Turn>;

    /// Takes note of the answer. What it leaves to be done runs the code of others, and does so elsewhere.
    fn hear(&mut self, answer: &Result<Reply, Undecided>) -> Option<Aftermath>;
}

/// One turn of a [`Regular`].
pub(crate) struct Turn {
    /// What was asked, if anything.
    pub(crate) answer: Option<Answer>,
    /// How long after its beginning the next turn begins.
    pub(crate) pause: Duration,
    pub(crate) news: Option<Aftermath>,
}

/// Has something speak with the store for as long as it wants to.
pub(super) async fn repeat(mut regular: impl Regular) {
    while let Some(Turn { answer, pause, news }) = regular.ask() {
        let next = Instant::now() + pause;
        tell(news);
        if let Some(answer) = answer {
            tell(regular.hear(&answer.await));
        }
        sleep_until(next).await;
    }
}

/// Runs the code of others where it holds up no decision.
pub(crate) fn tell(news: Option<Aftermath>) {
    if let Some(news) = news {
        spawn_blocking(move || drop(news));
    }
}
