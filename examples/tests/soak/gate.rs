//! A port in front of a server that must not be ended: it can be closed as if the server were gone.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

/// The way to a server, as long as it is open.
pub(crate) struct Gate {
    port: u16,
    server: SocketAddr,
    open: Option<JoinHandle<()>>,
}

impl Gate {
    /// Opens a port in front of this server.
    pub(crate) async fn open(port: u16, server: SocketAddr) -> Self {
        let mut gate = Self { port, server, open: None };
        gate.reopen().await;
        gate
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Refuses whoever calls, and breaks off the calls under way.
    pub(crate) async fn close(&mut self) {
        if let Some(open) = self.open.take() {
            open.abort();
            let _ = open.await; // the listener and the connections are gone then
        }
    }

    pub(crate) async fn reopen(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await.unwrap();
        let server = self.server;
        self.open = Some(tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                connections.spawn(async move {
                    if let Ok(mut server) = TcpStream::connect(server).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
                while connections.try_join_next().is_some() {}
            }
        }));
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if let Some(open) = &self.open {
            open.abort();
        }
    }
}
