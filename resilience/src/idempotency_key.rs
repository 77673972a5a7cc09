//! The name of one logical call, by which a callee knows its attempts for what they are.

use std::{
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    str::FromStr,
    time::SystemTime,
};

use crate::context::{Context, carry};

/// What names one logical call, so that a callee acts once however often it is asked: 128 bits, which
/// are shown as the text of a UUID.
///
/// Whoever has a key can ask for the outcome of the call that it names, so nothing of the library logs
/// it or makes a metric of it.
///
/// # Examples
///
/// ```
/// use resilience::IdempotencyKey;
///
/// let key = IdempotencyKey::random();
/// assert_ne!(key, IdempotencyKey::random());
/// let stored = key.to_string(); // "6f0c8a52-…", for a header or a column
/// assert_eq!(stored.parse(), Ok(key));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdempotencyKey([u8; 16]); // a `u128` would align whatever carries it

impl IdempotencyKey {
    /// Makes a key that no other call has: a random UUID, version 4.
    ///
    /// All but the bits that state the version are the output of a keyed hash whose key, of 128 bits,
    /// comes from the operating system.
    pub fn random() -> Self {
        // Its key is the thread's, made new by a count: a crate for random numbers would be one more
        // for every user. Fastrand, of the jitter, has 64 bits of state, too few for names.
        let secret = RandomState::new();
        let half = |number: u8| {
            let mut hasher = secret.build_hasher();
            hasher.write_u8(number);
            // Forked processes and restored snapshots have one secret: they part here.
            hasher.write_u32(std::process::id());
            let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
            hasher.write_u128(time.as_nanos());
            u128::from(hasher.finish())
        };
        Self::version_4((half(0) << 64) | half(1))
    }

    fn of(bits: u128) -> Self {
        Self(bits.to_be_bytes())
    }

    fn bits(self) -> u128 {
        u128::from_be_bytes(self.0)
    }

    /// Writes version and variant over six of the bits, as RFC 9562 wants it.
    fn version_4(bits: u128) -> Self {
        const FIXED: u128 = (0xf << 76) | (0b11 << 62);
        Self::of((bits & !FIXED) | (0x4 << 76) | (0b10 << 62))
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.bits();
        let part = |from: u32, bits: u32| (key >> from) & ((1 << bits) - 1);
        write!(f, "{:08x}", part(96, 32))?;
        for from in [80, 64, 48] {
            write!(f, "-{:04x}", part(from, 16))?;
        }
        write!(f, "-{:012x}", part(0, 48))
    }
}

/// A text is not that of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidIdempotencyKey;

impl fmt::Display for InvalidIdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a UUID: 32 hexadecimal digits in groups of 8-4-4-4-12")
    }
}

impl std::error::Error for InvalidIdempotencyKey {}

impl FromStr for IdempotencyKey {
    type Err = InvalidIdempotencyKey;

    /// Reads a key that was stored as text: a UUID of any version, in any case.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut groups = text.split('-');
        let mut bits = 0;
        for length in [8, 4, 4, 4, 12] {
            let group = groups.next().filter(|group| {
                group.len() == length && group.bytes().all(|byte| byte.is_ascii_hexdigit())
            });
            let digits = u128::from_str_radix(group.ok_or(InvalidIdempotencyKey)?, 16);
            bits = (bits << (4 * length)) | digits.map_err(|_| InvalidIdempotencyKey)?;
        }
        if groups.next().is_some() { Err(InvalidIdempotencyKey) } else { Ok(Self::of(bits)) }
    }
}

/// Returns the key of the logical call that the present code is part of; `None` when nobody made one.
///
/// A key is made by `#[retry(.., idempotency_key)]` and
/// [`StackBuilder::idempotency_key`](crate::StackBuilder::idempotency_key), one for each call, or
/// handed in by [`with_idempotency_key`]. It is the same in every attempt and in the fallback, which
/// may leave the call to be made later, and another one in the next call. A retry that is switched off
/// makes one too: the callee may know of an attempt that the caller has forgotten.
///
/// The flag says where a logical call begins, and the innermost one counts. So a retry further down
/// *without* the flag is a part of the call, and its attempts have the key of the call. One *with* the
/// flag is a call of its own, to somebody else perhaps: it has its own key, and another one in each
/// attempt of the retry around it. Where two layers retry the same call, the flag belongs to the outer
/// one alone.
///
/// The key follows the call into [`Resilience::spawn`](crate::Resilience::spawn), detached bodies and
/// bodies on a thread pool, but not into a bare `tokio::spawn`: there is none in such a task.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::{Error, Retry, RetryConfig, Stack};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), resilience::ConfigError> {
/// let config = RetryConfig::builder().wait_duration(Duration::from_millis(1)).build()?;
/// let retry = Retry::new("payment", config);
/// let stack = Stack::builder().retry(retry).idempotency_key().build();
/// let mut sent = Vec::new();
/// let _ = stack
///     .call(|| {
///         // Called once for each attempt. Usually it goes out as the header `Idempotency-Key`.
///         sent.extend(resilience::idempotency_key());
///         async { Err::<(), _>("no answer") }
///     })
///     .await;
/// assert_eq!(sent.len(), 3);
/// assert!(sent.iter().all(|key| *key == sent[0]));
/// assert_eq!(resilience::idempotency_key(), None);
/// # Ok(())
/// # }
/// ```
pub fn idempotency_key() -> Option<IdempotencyKey> {
    Context::present_key()
}

/// Runs `future` as the logical call that `key` names, in place of the one around it.
///
/// For what makes no keys of its own, such as a lone [`Retry`](crate::Retry) or a tower layer. A flag
/// further down begins another call, see [`idempotency_key`].
///
/// # Cancel safety
///
/// As safe as `future` itself.
///
/// # Examples
///
/// ```
/// use resilience::{IdempotencyKey, Retry, RetryConfig, idempotency_key, with_idempotency_key};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let retry = Retry::new("payment", RetryConfig::default());
/// let key = IdempotencyKey::random(); // to be written down first, for who asks after a crash
/// let call = retry.call(|| async { Ok::<_, std::io::Error>(idempotency_key()) });
/// assert_eq!(with_idempotency_key(key, call).await.unwrap(), Some(key));
/// # }
/// ```
pub async fn with_idempotency_key<F: Future>(key: IdempotencyKey, future: F) -> F::Output {
    carry(Some(Context::present().unwrap_or_default().keyed(key)), future).await
}

/// Runs `future`, all attempts and the fallback of an annotated function, as a logical call of its own.
pub async fn new_call<F: Future>(future: F) -> F::Output {
    carry(Some(Context::of_new_call()), future).await
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_are_uuids_of_version_4_and_none_comes_twice() {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let many = || (0..10_000).map(|_| IdempotencyKey::random()).collect::<Vec<_>>();
                std::thread::spawn(many)
            })
            .collect();
        let keys: Vec<_> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
        for key in &keys {
            let text = key.to_string();
            let dashes: Vec<_> = text.match_indices('-').map(|(at, _)| at).collect();
            assert_eq!((text.len(), &*dashes), (36, &[8, 13, 18, 23][..]), "{text}");
            assert!(text.bytes().all(|b| matches!(b, b'-' | b'0'..=b'9' | b'a'..=b'f')), "{text}");
            assert_eq!(&text[14..15], "4", "{text}");
            assert!(matches!(&text[19..20], "8" | "9" | "a" | "b"), "{text}");
        }
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
    }

    #[test]
    fn every_bit_that_is_not_fixed_is_random() {
        let (zeros, ones) = (0..200)
            .map(|_| IdempotencyKey::random().bits())
            .fold((0, u128::MAX), |(ever, always), bits| (ever | bits, always & bits));
        assert_eq!(IdempotencyKey::version_4(0).bits(), ones, "only the fixed ones are always set");
        assert_eq!(IdempotencyKey::version_4(u128::MAX).bits(), zeros, "and always unset");
    }

    #[test]
    fn what_is_no_uuid_is_no_key() {
        for text in [
            "",
            "order-7",
            "00112233445546778899aabbccddeeff",
            "00112233-4455-4677-8899-aabbccddeef",
            "00112233-4455-4677-8899-aabbccddeeff-",
            "00112233-4455-4677-8899-aabbccddeefg",
            "+0112233-4455-4677-8899-aabbccddeeff",
            "{0112233-4455-4677-8899-aabbccddeef}",
        ] {
            assert_eq!(text.parse::<IdempotencyKey>(), Err(InvalidIdempotencyKey), "{text}");
        }
    }

    #[test]
    fn the_text_is_that_of_the_bits_from_the_left() {
        let key = IdempotencyKey::of(0x0011_2233_4455_4677_8899_aabb_ccdd_eeff);
        assert_eq!(key.to_string(), "00112233-4455-4677-8899-aabbccddeeff");
        assert_eq!("00112233-4455-4677-8899-AABBCCDDEEFF".parse(), Ok(key));
    }
}
