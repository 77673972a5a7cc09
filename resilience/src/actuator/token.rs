use std::fmt;

use axum::http::{HeaderMap, header::AUTHORIZATION};
use subtle::ConstantTimeEq;

/// What those who may change something know.
#[derive(Clone)]
pub(super) struct Token(String);

/// A token that is too short to keep anybody out, or cannot be sent in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnfitToken;

impl fmt::Display for UnfitToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a token of 16 to 1024 visible ASCII characters")
    }
}

impl std::error::Error for UnfitToken {}

impl Token {
    pub(super) fn new(token: String) -> Result<Self, UnfitToken> {
        let fits =
            (16..=1024).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(token)) } else { Err(UnfitToken) }
    }

    /// Whether a request brings the token. How long it takes to tell says nothing of the token but its
    /// length.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        bearer(headers).is_some_and(|token| token.as_bytes().ct_eq(self.0.as_bytes()).into())
    }
}

/// Where there is one header of this kind: of two, nobody knows which one is meant.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (all.next(), all.next()) else { return None };
    let (scheme, token) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Without the token.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn headers(authorization: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, authorization.parse().unwrap())])
    }

    #[test]
    fn only_the_whole_token_as_bearer_is_let_in() {
        let token = Token::new(SECRET.to_owned()).unwrap();
        for (authorization, is_in) in [
            ("Bearer 0123456789abcdef", true),
            ("bearer 0123456789abcdef", true),
            ("Bearer 0123456789abcdeF", false),
            ("Bearer 0123456789abcde", false),
            ("Bearer 0123456789abcdef0", false),
            ("Bearer ", false),
            ("Basic 0123456789abcdef", false),
            ("0123456789abcdef", false),
        ] {
            assert_eq!(token.is_in(&headers(authorization)), is_in, "{authorization}");
        }
        assert!(!token.is_in(&HeaderMap::new()));
        let mut twice = headers("Bearer 0123456789abcdef");
        twice.append(AUTHORIZATION, "Bearer 0123456789abcdef".parse().unwrap());
        assert!(!token.is_in(&twice));
    }

    #[test]
    fn a_short_token_or_one_that_no_header_can_carry_is_refused() {
        for token in ["", "0123456789abcde", "0123456789 abcdef", "0123456789äbcdef"] {
            assert!(Token::new(token.to_owned()).is_err(), "{token}");
        }
    }

    #[test]
    fn a_token_is_not_shown() {
        let token = Token::new(SECRET.to_owned()).unwrap();
        assert!(!format!("{token:?}").contains(SECRET));
    }
}
