//! A way to a server that can go dead without a word, as a network does.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::{future::pending, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinHandle,
};

pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    last: watch::Sender<String>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (last, told) = watch::channel(String::new());
        let task = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(server).await.unwrap();
                let ((mut from_client, to_client), (from_server, mut to_server)) =
                    (client.into_split(), server.into_split());
                let mut told = told.clone();
                told.mark_unchanged();
                tokio::spawn(async move {
                    tokio::select! {
                        _ = copy(&mut from_client, &mut to_server) => {}
                        () = answer(from_server, to_client, told) => {}
                    }
                });
            }
        });
        Self { address, last, task }
    }

    /// Sends one more event on the streams that are open, and then nothing; other connections are closed,
    /// and new ones work.
    pub(crate) fn silence_after(&self, event: &str) {
        self.last.send_replace(event.to_owned());
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Hands on what the server says.
async fn answer(
    mut server: OwnedReadHalf,
    mut client: OwnedWriteHalf,
    mut told: watch::Receiver<String>,
) {
    let mut is_stream = false;
    let mut buffer = vec![0; 65_536];
    loop {
        tokio::select! {
            read = server.read(&mut buffer) => {
                let Ok(read @ 1..) = read else { return };
                is_stream |= String::from_utf8_lossy(&buffer[..read]).contains("text/event-stream");
                if client.write_all(&buffer[..read]).await.is_err() {
                    return;
                }
            }
            _ = told.changed() => {
                if !is_stream {
                    return;
                }
                let last = told.borrow_and_update().clone();
                let _ = client.write_all(format!("{:x}\r\n{last}\r\n", last.len()).as_bytes()).await;
                pending::<()>().await;
            }
        }
    }
}
