use std::{fmt, sync::Arc};

/// The schemes of addresses of a store.
const SCHEMES: [&str; 7] =
    ["redis", "rediss", "valkey", "valkeys", "redis+unix", "valkey+unix", "unix"];

/// The addresses of a store. They may hold passwords, which neither `Display` nor `Debug` shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Addresses(Arc<[String]>);

impl Addresses {
    /// Takes addresses as they are written.
    pub fn new(addresses: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(addresses.into_iter().map(Into::into).collect())
    }

    /// The addresses that are written in one text, with commas between them. A comma that no address
    /// follows is one of the address before.
    pub fn listed(text: &str) -> Self {
        let mut addresses: Vec<String> = Vec::new();
        for part in text.split(',') {
            match addresses.last_mut() {
                Some(last) if !part.contains("://") && !part.trim().is_empty() => {
                    last.push(',');
                    last.push_str(part);
                }
                _ => addresses.push(part.to_owned()),
            }
        }
        let addresses = addresses.iter().map(|address| address.trim());
        Self::new(addresses.filter(|address| !address.is_empty()))
    }

    /// The addresses with all that is in them.
    pub fn exposed(&self) -> &[String] {
        &self.0
    }

    /// The addresses without what is not shown of them.
    pub fn shown(&self) -> Vec<String> {
        self.0.iter().map(|address| shown(address)).collect()
    }

    /// Whether something of an address is not shown.
    pub fn have_secrets(&self) -> bool {
        self.0.iter().any(|address| shown(address) != *address)
    }

    /// Whether each begins as the address of a store does.
    pub(crate) fn have_schemes(&self) -> bool {
        self.0.iter().all(|address| {
            let scheme = address.split_once("://").map(|(scheme, _)| scheme);
            scheme.is_some_and(|scheme| SCHEMES.contains(&scheme))
        })
    }
}

/// An address without its user, password and parameters, one of which may be a password too.
fn shown(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return "***".to_owned() };
    let (secret, place) = match rest.rsplit_once('@') {
        Some((secret, place)) => (Some(secret), place),
        None => (None, rest),
    };
    if secret.is_some_and(|secret| secret.contains('?')) {
        return format!("{scheme}://***"); // where the password ends is open
    }
    let user = if secret.is_some() { "***@" } else { "" };
    match place.split_once('?') {
        Some((place, _)) => format!("{scheme}://{user}{place}?***"),
        None => format!("{scheme}://{user}{place}"),
    }
}

impl fmt::Display for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shown().as_slice() {
            [only] => f.write_str(only),
            several => write!(f, "[{}]", several.join(", ")),
        }
    }
}

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.shown()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_users_are_not_shown() {
        for (address, expected) in [
            ("redis://127.0.0.1:6379/2", "redis://127.0.0.1:6379/2"),
            ("redis://:sesame@cache", "redis://***@cache"),
            ("rediss://ann:ses@me/x@cache:1", "rediss://***@cache:1"),
            ("redis://ann:ses?me@cache", "redis://***"),
            ("unix:///run/redis.sock?pass=ses@me", "unix://***"),
            ("unix:///run/redis.sock?pass=sesame", "unix:///run/redis.sock?***"),
            ("sesame", "***"),
        ] {
            let addresses = Addresses::new([address]);
            assert_eq!(addresses.to_string(), expected);
            assert_eq!(format!("{addresses:?}"), format!("[{expected:?}]"));
            assert_eq!(addresses.have_secrets(), expected != address);
        }
    }

    #[test]
    fn a_comma_in_a_password_divides_nothing() {
        let listed = |text| Addresses::listed(text).exposed().to_vec();
        assert_eq!(listed("redis://a, redis://b,"), ["redis://a", "redis://b"]);
        assert_eq!(listed("redis://:se,same@a,redis://b"), ["redis://:se,same@a", "redis://b"]);
        assert_eq!(listed(" , "), [""; 0]);
    }
}
