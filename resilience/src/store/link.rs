use std::sync::Arc;

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};

use super::{StoreConfig, StoreFailure, connection::Connection};
use crate::sync::plain::Mutex;

type Opening = Shared<BoxFuture<'static, Result<Connection, StoreFailure>>>;

/// The way to the server: opened when it is needed, opened anew once it has proved to be bad.
#[derive(Clone)]
pub(super) struct Link {
    config: Arc<StoreConfig>,
    present: Arc<Mutex<Present>>,
}

#[derive(Default)]
struct Present {
    /// Tells one connection from the next.
    number: u64,
    opening: Option<Opening>,
}

impl Link {
    pub(super) fn new(config: Arc<StoreConfig>) -> Self {
        Self { config, present: Arc::default() }
    }

    /// The connection and its number. It is opened by a task of its own, which goes on when those
    /// who wait for it give up.
    pub(super) async fn get(&self) -> Result<(Connection, u64), StoreFailure> {
        let (opening, number) = self.present();
        match opening.await {
            Ok(connection) => Ok((connection, number)),
            Err(failure) => {
                self.discard(number);
                Err(failure)
            }
        }
    }

    /// Has the next one who asks open another connection, unless that has happened already.
    pub(super) fn discard(&self, number: u64) {
        let mut present = self.present.lock();
        if present.number == number {
            present.opening = None;
        }
    }

    fn present(&self) -> (Opening, u64) {
        let mut present = self.present.lock();
        if let Some(opening) = &present.opening {
            return (opening.clone(), present.number);
        }
        present.number += 1;
        let number = present.number;
        let link = self.clone();
        let task = tokio::spawn(async move {
            let opened = Connection::open(&link.config).await;
            if opened.is_err() {
                // Whether or not anybody waits for it: the next one who asks is not told of the past.
                link.discard(number);
            }
            opened
        });
        let opening = async move { task.await.unwrap_or(Err(StoreFailure::Connection)) };
        let opening = opening.boxed().shared();
        present.opening = Some(opening.clone());
        (opening, number)
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, time::Duration};

    use super::*;

    #[tokio::test]
    async fn an_attempt_that_failed_while_nobody_waited_is_not_told_to_the_next_who_asks() {
        // Connections are made, and nobody answers in them.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("redis://{}", silent.local_addr().unwrap());
        let config = StoreConfig::builder([url], "shop");
        let config = config.connect_timeout(Duration::from_millis(20)).build().unwrap();
        let link = Link::new(Arc::new(config));
        let impatient = tokio::time::timeout(Duration::from_millis(1), link.get()).await;
        assert!(impatient.is_err(), "it has given up");
        tokio::time::sleep(Duration::from_millis(200)).await;
        let (mut next, number) = link.present();
        assert_eq!(number, 2);
        assert!((&mut next).now_or_never().is_none(), "it is tried anew");
    }
}
