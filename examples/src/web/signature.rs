use std::{env, fmt, sync::Arc};

use axum::http::{HeaderMap, StatusCode};
use hmac::{Hmac, KeyInit, Mac};
use serde::de::DeserializeOwned;
use sha2::Sha256;

use super::{ApiError, body::parsed};

/// The environment variable with the secret of the callbacks; without one none is sent or believed.
pub const CALLBACK_SECRET: &str = "CALLBACK_SECRET";

/// The header with the signature of a callback's body: HMAC-SHA256, in hexadecimal digits.
pub const SIGNATURE: &str = "x-signature";

const SHORTEST: usize = 16;

/// What the provider and who believes it have in common; never shown.
#[derive(Clone)]
pub struct Secret(Arc<[u8]>);

/// A secret that could be guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{CALLBACK_SECRET} cannot be used: expected {SHORTEST} characters or more")]
pub struct UnfitSecret;

impl Secret {
    /// Takes a secret of 16 bytes or more.
    ///
    /// # Errors
    ///
    /// If it is shorter.
    pub fn new(secret: impl AsRef<[u8]>) -> Result<Self, UnfitSecret> {
        let secret = secret.as_ref();
        if secret.len() < SHORTEST { Err(UnfitSecret) } else { Ok(Self(secret.into())) }
    }

    /// Takes the secret of the environment, if there is one.
    ///
    /// # Errors
    ///
    /// If it is too short.
    pub fn from_env() -> Result<Option<Self>, UnfitSecret> {
        env::var_os(CALLBACK_SECRET).map(|secret| Self::new(secret.as_encoded_bytes())).transpose()
    }

    /// Signs the body of a callback, for the header [`SIGNATURE`].
    pub fn sign(&self, body: &[u8]) -> String {
        use std::fmt::Write;

        let tag = self.mac(body).finalize().into_bytes();
        tag.iter().fold(String::with_capacity(2 * tag.len()), |mut text, byte| {
            let _ = write!(text, "{byte:02x}"); // writing into a string does not fail
            text
        })
    }

    /// Checks that who sent this body has the secret, in a time that tells nothing of how near a
    /// forged signature came.
    ///
    /// # Errors
    ///
    /// 401 if the signature is missing or another one.
    pub fn check(&self, headers: &HeaderMap, body: &[u8]) -> Result<(), ApiError> {
        let signature = headers.get(SIGNATURE).and_then(|header| digits(header.as_bytes()));
        let is_genuine =
            signature.is_some_and(|signature| self.mac(body).verify_slice(&signature).is_ok());
        if is_genuine { Ok(()) } else { Err(ApiError::unsigned()) }
    }

    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        // Any length of key will do.
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0);
        mac.unwrap_or_else(|error| unreachable!("{error}")).chain_update(body)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl ApiError {
    /// Creates the error for a callback that nobody vouches for.
    pub fn unsigned() -> Self {
        let message = format!("the header {SIGNATURE} is not the signature of this body");
        Self::new(StatusCode::UNAUTHORIZED, "BAD_SIGNATURE", message)
    }
}

/// Reads a body whose sender has the secret. Where there is none, nobody is believed.
///
/// # Errors
///
/// 401 if the body is not signed with it; 400 if it is and cannot be read.
pub fn signed<T: DeserializeOwned>(
    secret: Option<&Secret>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<T, ApiError> {
    secret.ok_or_else(ApiError::unsigned)?.check(headers, body)?;
    parsed(body)
}

fn digits(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(|pair| Some((digit(pair[0])? << 4) | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(signature: &str) -> HeaderMap {
        HeaderMap::from_iter([(SIGNATURE.parse().unwrap(), signature.parse().unwrap())])
    }

    #[test]
    fn a_signature_is_that_of_rfc_4231() {
        // Its test case 1.
        let secret = Secret::new([0x0b; 20]).unwrap();
        let signature = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(secret.sign(b"Hi There"), signature);
        assert!(secret.check(&signed(signature), b"Hi There").is_ok());
    }

    #[test]
    fn another_body_another_secret_and_no_signature_are_not_believed() {
        let secret = Secret::new("a secret of some length").unwrap();
        let signature = secret.sign(b"body");
        assert!(secret.check(&signed(&signature), b"bodY").is_err());
        assert!(secret.check(&HeaderMap::new(), b"body").is_err());
        let other = Secret::new("another secret of some length").unwrap();
        assert!(other.check(&signed(&signature), b"body").is_err());
        for forged in ["", "0", "zz", &signature[2..], &format!("{signature}00")] {
            assert!(secret.check(&signed(forged), b"body").is_err(), "{forged}");
        }
    }

    #[test]
    fn a_secret_is_not_short_and_not_shown() {
        assert_eq!(Secret::new("fifteen letters").unwrap_err(), UnfitSecret);
        let shown = format!("{:?}", Secret::new("sixteen letters!").unwrap());
        assert!(!shown.contains("sixteen"), "{shown}");
    }
}
