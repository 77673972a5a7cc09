//! What the processes leave behind in their Redis.

use redis::{AsyncCommands, Client, RedisResult};

/// The keys that would stay for ever, whoever had set them: every one has to go away by itself, as
/// whoever would take it away may be killed.
pub(crate) async fn lasting(url: &str) -> RedisResult<Vec<String>> {
    let mut connection = Client::open(url)?.get_multiplexed_async_connection().await?;
    let mut lasting = Vec::new();
    for key in connection.keys::<_, Vec<String>>("*").await? {
        // -1: it does not expire; -2: it has expired meanwhile.
        if connection.pttl::<_, i64>(&key).await? == -1 {
            lasting.push(key);
        }
    }
    Ok(lasting)
}

#[cfg(test)]
mod tests {
    use examples::redis_server::RedisServer;

    use super::*;

    #[tokio::test]
    async fn a_key_that_does_not_expire_is_found_and_one_that_does_is_not() {
        let redis = RedisServer::start().await.expect("a Redis");
        let mut connection =
            Client::open(redis.url()).unwrap().get_multiplexed_async_connection().await.unwrap();
        let () = connection.set_ex("a", 1, 60).await.unwrap();
        assert_eq!(lasting(&redis.url()).await.unwrap(), [""; 0]);
        let () = connection.set("b", 1).await.unwrap();
        assert_eq!(lasting(&redis.url()).await.unwrap(), ["b"]);
    }
}
