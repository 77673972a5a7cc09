use std::time::Duration;

use redis::{
    AsyncConnectionConfig, Client, Cmd, RedisResult, Value,
    aio::{ConnectionLike, MultiplexedConnection},
    cluster::ClusterClient,
    cluster_async::ClusterConnection,
};

use super::{StoreConfig, StoreFailure};

/// How many commands wait in a connection before it makes others wait outside.
const QUEUE: usize = 1024;

/// One connection for all that is asked at a time.
#[derive(Clone)]
pub(super) enum Connection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connection {
    pub(super) async fn open(config: &StoreConfig) -> Result<Self, StoreFailure> {
        #[cfg(feature = "redis-tls")]
        choose_ciphers();
        let opened = async {
            if config.is_cluster() {
                Self::cluster(config).await
            } else {
                Self::single(config).await
            }
        };
        match tokio::time::timeout(config.connect_timeout(), opened).await {
            Ok(opened) => opened.map_err(|error| StoreFailure::of(&error)),
            Err(_) => Err(StoreFailure::Connection),
        }
    }

    async fn single(config: &StoreConfig) -> RedisResult<Self> {
        // Times are set around the client, not in it.
        let settings = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None)
            .set_pipeline_buffer_size(QUEUE);
        let client = Client::open(config.urls()[0].as_str())?;
        client.get_multiplexed_async_connection_with_config(&settings).await.map(Self::Single)
    }

    async fn cluster(config: &StoreConfig) -> RedisResult<Self> {
        // Without retries: the client would send again what may have been carried out.
        let client = ClusterClient::builder(config.urls().iter().map(String::as_str))
            .retries(0)
            .connection_timeout(config.connect_timeout())
            .response_timeout(config.connect_timeout().max(config.decision_timeout() * 2))
            .build()?;
        client.get_async_connection().await.map(Self::Cluster)
    }

    /// Whether a command that went to the wrong node may find the right one when it is sent again.
    pub(super) fn learns(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// # Cancel safety
    ///
    /// Dropped, the command may be carried out or not; the connection stays good.
    pub(super) async fn run(&mut self, command: &Cmd) -> RedisResult<Value> {
        let answer = match self {
            Self::Single(connection) => connection.req_packed_command(command).await,
            Self::Cluster(connection) => connection.req_packed_command(command).await,
        };
        answer.and_then(Value::extract_error)
    }
}

/// Takes ring for the program if it has chosen nothing: with none, or with several to choose from, the
/// client's TLS would panic.
#[cfg(feature = "redis-tls")]
fn choose_ciphers() {
    use rustls::crypto::{CryptoProvider, ring};

    if CryptoProvider::get_default().is_none() {
        // Somebody else may have been faster.
        let _ = ring::default_provider().install_default();
    }
}

/// A short pause before a command is sent to a cluster again that has just told of a move.
pub(super) const BEFORE_THE_NEXT_NODE: Duration = Duration::from_millis(2);
