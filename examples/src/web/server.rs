use std::{io, net::SocketAddr};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    http::{Method, StatusCode, Uri},
    middleware::{self, Next},
};
use resilience::Resilience;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use super::{ApiError, MAX_BODY_BYTES};

/// A service that listens on loopback.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<io::Result<()>>,
}

impl Server {
    /// Starts to serve on `127.0.0.1`; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// If the port cannot be bound.
    pub async fn start(port: u16, app: Router) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let (stop, mut stopped) = watch::channel(false);
        let until = async move {
            // The sender going away is a stop as well.
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        let task =
            tokio::spawn(
                async move { axum::serve(listener, app).with_graceful_shutdown(until).await },
            );
        Ok(Self { address, stop, task })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base of its URLs.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Takes no more connections and returns when the requests under way have been answered.
    ///
    /// # Errors
    ///
    /// If serving ended with an error or a panic.
    pub async fn stop(self) -> io::Result<()> {
        self.stop.send_replace(true);
        self.task.await.map_err(io::Error::other)?
    }
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
