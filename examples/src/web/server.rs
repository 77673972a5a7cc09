use std::{io, net::SocketAddr, time::Duration};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    http::{Method, StatusCode, Uri},
    middleware::{self, Next},
    serve::Listener,
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use resilience::Resilience;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use tokio_util::task::TaskTracker;

use super::{ApiError, MAX_BODY_BYTES};
use crate::{database::Connections, peer::BaseUrl, sweeper::Sweeper};

/// How long a connection may be idle, and a request's header may take to arrive: a client that
/// stops half-way holds up nobody.
const ARRIVAL: Duration = Duration::from_secs(3);

/// Nobody can be served at this port.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on 127.0.0.1:{port}: {source}")]
pub struct ListenError {
    port: u16,
    source: io::Error,
}

/// A service: what it answers, and what it does by itself meanwhile.
#[derive(Debug)]
pub struct App {
    /// What it answers.
    pub routes: Router,
    /// What it does by itself.
    pub sweeper: Option<Sweeper>,
    /// What requests and sweeps have begun and not waited for.
    pub beside: TaskTracker,
    /// The connections to its database, if it has one.
    pub connections: Option<Connections>,
}

impl From<Router> for App {
    fn from(routes: Router) -> Self {
        Self { routes, sweeper: None, beside: TaskTracker::new(), connections: None }
    }
}

/// A port on loopback whose callers wait until somebody serves them: its URL is known before.
#[derive(Debug)]
pub struct Port {
    address: SocketAddr,
    listener: TcpListener,
}

impl Port {
    /// Binds `127.0.0.1`; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// If the port cannot be bound.
    pub async fn bind(port: u16) -> Result<Self, ListenError> {
        let listen = async {
            let listener = TcpListener::bind(("127.0.0.1", port)).await?;
            Ok(Self { address: listener.local_addr()?, listener })
        };
        listen.await.map_err(|source| ListenError { port, source })
    }

    /// The base of the URLs of who will serve here.
    pub fn base_url(&self) -> BaseUrl {
        self.address.into()
    }

    /// Serves whoever calls.
    pub fn serve(self, app: impl Into<App>) -> Server {
        let App { routes, sweeper, beside, connections } = app.into();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(serve(self.listener, routes, stopped));
        Server { address: self.address, stop, task, sweeper, beside, connections }
    }
}

/// A service that listens on loopback.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
    sweeper: Option<Sweeper>,
    beside: TaskTracker,
    connections: Option<Connections>,
}

impl Server {
    /// Starts to serve on `127.0.0.1`; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// If the port cannot be bound.
    pub async fn start(port: u16, app: impl Into<App>) -> Result<Self, ListenError> {
        Ok(Port::bind(port).await?.serve(app))
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The connections to its database, if it has one.
    pub fn connections(&self) -> Option<&Connections> {
        self.connections.as_ref()
    }

    /// The base of its URLs, as callers take it.
    pub fn base_url(&self) -> BaseUrl {
        self.address.into()
    }

    /// The base of its URLs, as text.
    pub fn url(&self) -> String {
        self.base_url().to_string()
    }

    /// Takes no more connections and returns when the requests under way have been answered, and
    /// what the service does by itself and what nobody waited for has come to an end.
    ///
    /// # Errors
    ///
    /// If serving ended with a panic.
    pub async fn stop(self) -> io::Result<()> {
        // A task that is gone already has stopped; its own end tells how.
        let _ = self.stop.send(());
        let served = self.task.await.map_err(io::Error::other);
        if let Some(sweeper) = self.sweeper {
            sweeper.stop().await;
        }
        // Nobody is left who could begin more of it.
        self.beside.close();
        self.beside.wait().await;
        served
    }
}

/// `axum::serve` with a limit on the time in which requests arrive, which that cannot set.
///
/// The sender of `stopped` going away is a stop as well.
async fn serve(mut listener: TcpListener, app: Router, mut stopped: oneshot::Receiver<()>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(ARRIVAL);
    let connections = GracefulShutdown::new();
    loop {
        let (stream, _) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            _ = &mut stopped => break,
        };
        let service = TowerToHyperService::new(app.clone());
        let connection = connections.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke");
            }
        });
    }
    // A new connection is refused from here on, not left waiting.
    drop(listener);
    connections.shutdown().await;
}

/// Completes a service's routes with what all services do alike.
///
/// Every request runs in the scope of `registry`, so that several systems can live in one process,
/// each with breakers and limits of its own.
pub fn finish(routes: Router, registry: &Resilience) -> Router {
    let registry = registry.clone();
    routes
        .fallback(|method: Method, uri: Uri| async move {
            ApiError::not_found(format!("{method} {}", uri.path()))
        })
        .method_not_allowed_fallback(|method: Method, uri: Uri| async move {
            let message = format!("{} does not take {method}", uri.path());
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", message)
        })
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn(move |request: Request, next: Next| {
            let registry = registry.clone();
            async move { registry.scope(next.run(request)).await }
        }))
}
