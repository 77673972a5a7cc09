use std::sync::Arc;

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};

use super::{StoreConfig, StoreFailure, connection::Connection};
use crate::sync::plain::Mutex;

type Opening = Shared<BoxFuture<'static, Result<Connection, StoreFailure>>>;

/// The way to the server: opened when it is needed, opened anew once it has proved to be bad.
pub(super) struct Link {
    config: Arc<StoreConfig>,
    present: Mutex<Present>,
}

#[derive(Default)]
struct Present {
    /// Tells one connection from the next.
    number: u64,
    opening: Option<Opening>,
}

impl Link {
    pub(super) fn new(config: Arc<StoreConfig>) -> Self {
        Self { config, present: Mutex::new(Present::default()) }
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
        let config = Arc::clone(&self.config);
        let task = tokio::spawn(async move { Connection::open(&config).await });
        let opening = async move { task.await.unwrap_or(Err(StoreFailure::Connection)) };
        let opening = opening.boxed().shared();
        present.number += 1;
        present.opening = Some(opening.clone());
        (opening, present.number)
    }
}
