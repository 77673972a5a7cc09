use std::fmt;

use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;

use crate::web::ApiError;

/// The header by which one service tells the next on whose behalf it calls.
pub const USER: &str = "x-user-id";

/// Who asks. Neither logs nor labels nor errors show it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub struct UserId(i64);

impl UserId {
    /// Names the user with this number.
    pub fn new(number: i64) -> Self {
        Self(number)
    }

    /// The number in digits, for requests; on purpose not `Display`, by which it would get into texts.
    pub fn digits(self) -> String {
        self.0.to_string()
    }

    /// Reads the header [`USER`].
    ///
    /// # Errors
    ///
    /// 401 if it is missing, there twice, or not a number.
    pub fn of(headers: &HeaderMap) -> Result<Self, ApiError> {
        let mut values = headers.get_all(USER).iter();
        let number = match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().ok().and_then(|text| text.parse().ok()),
            _ => None,
        };
        number.map(Self).ok_or_else(|| {
            let message = format!("the header {USER} is required: one whole number");
            ApiError::new(StatusCode::UNAUTHORIZED, "USER_MISSING", message)
        })
    }
}

impl fmt::Debug for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserId(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (USER.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_user_is_one_whole_number() {
        assert_eq!(UserId::of(&headers(&["42"])).unwrap(), UserId::new(42));
        for wrong in [&[][..], &[""], &["x"], &["1.5"], &["9223372036854775808"], &["1", "1"]] {
            assert!(UserId::of(&headers(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_user_is_not_shown() {
        assert_eq!(format!("{:?}", UserId::new(42)), "UserId(..)");
    }
}
