use super::{Key, KeyedMetrics, Member, as_display, instance_of};
use crate::{Bulkhead, CircuitBreaker, RateLimiter, Retry, TimeLimiter};

macro_rules! keyed {
    ($($instance:ident, $noun:literal;)*) => {
        $(
            #[doc = concat!("One ", $noun, " for each key; [`keyed`](crate::keyed) tells how.")]
            impl $instance {
                #[doc = concat!("Returns the ", $noun, " of a key under this name, made when it is not there yet.")]
                ///
                /// Every look-up of a key, whatever its type, gives a handle to the same instance as
                /// long as it is in use. When there are `max_keys` that cannot go, it is the one that
                /// all further keys share.
                ///
                /// # Panics
                ///
                /// When the key's `Display` panics or fails; nothing has happened then.
                ///
                /// # Examples
                ///
                /// ```
                #[doc = concat!("use resilience::", stringify!($instance), ";")]
                ///
                #[doc = concat!("let shards = ", stringify!($instance), "::new(\"shard\", Default::default());")]
                /// let shard = shards.keyed(&7);
                /// assert_eq!((shard.name(), shard.key()), ("shard", Some("7")));
                /// assert_eq!(shards.keyed("7").key(), Some("7")); // the same one
                /// assert_eq!(shards.keyed_metrics().live, 1);
                /// ```
                #[must_use = "the instance itself is not changed"]
                #[track_caller]
                pub fn keyed<K: Key + ?Sized>(&self, key: &K) -> Self {
                    instance_of(self, as_display(&key))
                }

                /// Returns the key if this is the instance of one.
                ///
                /// Of a key longer than 256 bytes it is the beginning and a hash.
                pub fn key(&self) -> Option<&str> {
                    Member::own_key(self)
                }

                #[doc = concat!("Returns the ", $noun, "s of all keys that have one of their own now, in the order of their keys.")]
                ///
                /// It is how to find out which of them are in what state: what this instance tells of
                /// itself, such as its metrics, does not include them. It copies one handle for each of
                /// up to `max_keys`, and none of them may go as long as its handle is kept.
                ///
                /// # Examples
                ///
                /// ```
                #[doc = concat!("use resilience::", stringify!($instance), ";")]
                ///
                #[doc = concat!("let shards = ", stringify!($instance), "::new(\"shard\", Default::default());")]
                /// shards.keyed("us");
                /// shards.keyed("eu");
                /// for shard in shards.keyed_instances() {
                ///     println!("{:?}: {:?}", shard.key(), shard.metrics());
                /// }
                /// # let shards = shards.keyed_instances();
                /// # assert!(shards.iter().filter_map(|shard| shard.key()).eq(["eu", "us"]));
                /// ```
                pub fn keyed_instances(&self) -> Vec<Self> {
                    Member::keys(self).all()
                }

                /// Tells how many instances there are for keys, and what became of others.
                pub fn keyed_metrics(&self) -> KeyedMetrics {
                    Member::keys(self).metrics()
                }
            }
        )*
    };
}

keyed! {
    CircuitBreaker, "circuit breaker";
    Retry, "retry";
    RateLimiter, "rate limiter";
    TimeLimiter, "time limiter";
    Bulkhead, "bulkhead";
}
