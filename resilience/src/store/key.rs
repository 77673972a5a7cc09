use std::fmt::Write;

use sha2::{Digest, Sha256};

/// How long the readable form of a part is at most; longer ones are known by their hash.
const READABLE: usize = 64;

/// Where something is in a store: `namespace:kind:{name}` or, for one key of many under a name,
/// `namespace:kind:{name/key}`.
///
/// What stands in braces decides the slot of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key(String);

impl Key {
    /// `kind` says what it is, two letters or so; it comes from this crate.
    pub(crate) fn new(namespace: &str, kind: &str, name: &str, key: Option<&str>) -> Self {
        let mut text = format!("{namespace}:{kind}:{{{}", part(name));
        if let Some(key) = key {
            text.push('/');
            text += &part(key);
        }
        text.push('}');
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A name as it can stand within a key: no braces, no separators, no control characters, and of
/// limited length. Different names stay different.
fn part(name: &str) -> String {
    if name.is_empty() {
        // Empty braces are no hash tag.
        return "%".into();
    }
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if text.len() > READABLE {
            break;
        }
        if byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    if text.len() <= READABLE { text } else { hashed(name) }
}

/// Begins with a character that no readable part has.
fn hashed(name: &str) -> String {
    let mut text = String::from("#");
    // 128 bits: nobody finds two names of one hash.
    for byte in &Sha256::digest(name.as_bytes())[..16] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(name: &str, key: Option<&str>) -> String {
        Key::new("shop", "rl", name, key).0
    }

    #[test]
    fn a_name_is_the_hash_tag() {
        assert_eq!(key("orders", None), "shop:rl:{orders}");
        assert_eq!(key("orders", Some("tenant-7")), "shop:rl:{orders/tenant-7}");
    }

    #[test]
    fn no_name_is_a_hash_tag_too() {
        assert_eq!(key("", None), "shop:rl:{%}");
    }

    #[test]
    fn a_long_key_is_hashed() {
        let long = key("orders", Some(&"x".repeat(10_000)));
        assert_eq!(long.len(), "shop:rl:{orders/#}".len() + 32);
        assert_ne!(long, key("orders", Some(&"x".repeat(9_999))));
    }

    #[test]
    fn the_empty_key_is_not_the_name_alone() {
        assert_ne!(key("orders", Some("")), key("orders", None));
    }

    proptest! {
        #[test]
        fn different_names_have_different_keys(
            a in ("\\PC{0,80}", proptest::option::of("\\PC{0,80}")),
            b in ("\\PC{0,80}", proptest::option::of("\\PC{0,80}")),
        ) {
            prop_assume!(a != b);
            prop_assert_ne!(key(&a.0, a.1.as_deref()), key(&b.0, b.1.as_deref()));
        }

        #[test]
        fn whatever_the_name_the_key_has_one_hash_tag_and_is_short(
            name in any::<String>(),
            of in proptest::option::of(any::<String>()),
        ) {
            let key = key(&name, of.as_deref());
            prop_assert_eq!(key.matches(['{', '}']).count(), 2);
            prop_assert!(key.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert!(key.len() < 160, "{}", key);
        }
    }
}
