use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, serve::Listener};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, ToSocketAddrs},
    sync::{Semaphore, watch},
    task::{JoinHandle, JoinSet},
    time::timeout,
};

use super::{
    router,
    state::{ARRIVAL, App},
    write_timeout::WriteTimeout,
};

/// How long a client may take nothing of what is sent to it.
const TAKING: Duration = Duration::from_secs(30);

/// How long the requests under way have once the server stops.
const DRAIN: Duration = Duration::from_secs(5);

/// How many connections there may be at once; further ones wait.
const MOST_CONNECTIONS: usize = 256;

/// An actuator that is served. Dropping it stops it as well, and waits for nothing.
#[derive(Debug)]
#[must_use = "a server stops when it is dropped"]
pub struct Server {
    address: SocketAddr,
    closing: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(
        address: impl ToSocketAddrs,
        app: App,
        beside: Router,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let closing = app.closing.clone();
        let routes = router::whole(app, beside, address.ip().is_loopback());
        let task = tokio::spawn(serve(listener, routes, closing.subscribe()));
        Ok(Self { address, closing, task })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, ends the streams and returns when the requests under way have been
    /// answered, after 5 seconds at the latest: connections that are still open then are broken off.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the server to stop by itself.
    pub async fn stop(mut self) {
        self.closing.send_replace(true);
        // The error would be a panic of the task, which has stopped it too.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closing.send_replace(true);
    }
}

/// `axum::serve` with limits on the number of connections and on the time that each of them may take.
async fn serve(mut listener: TcpListener, routes: Router, mut closing: watch::Receiver<bool>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(ARRIVAL);
    let (graceful, mut connections) = (GracefulShutdown::new(), JoinSet::new());
    let free = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let accepted = async {
            let place = Arc::clone(&free).acquire_owned().await;
            (Listener::accept(&mut listener).await, place)
        };
        let ((stream, _), place) = tokio::select! {
            accepted = accepted => accepted,
            _ = closing.wait_for(|closing| *closing) => break,
        };
        let service = TowerToHyperService::new(routes.clone());
        let stream = TokioIo::new(WriteTimeout::new(stream, TAKING));
        let connection = graceful.watch(http.serve_connection(stream, service));
        // Those that have ended are forgotten.
        while connections.try_join_next().is_some() {}
        connections.spawn(async move {
            // A broken connection is its client's affair.
            let _ = connection.await;
            drop(place);
        });
    }
    // A new connection is refused from here on, not left waiting.
    drop(listener);
    let _ = timeout(DRAIN, graceful.shutdown()).await;
    connections.shutdown().await;
}
