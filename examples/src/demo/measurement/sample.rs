use serde_json::{Map, Value};

/// What was seen once, by the names that its parts have where it was seen.
pub(in crate::demo) type Sample = Map<String, Value>;

/// Makes a sample of `{"name": value, …}`.
macro_rules! sample {
    ($($name:literal: $value:expr),* $(,)?) => {
        $crate::demo::measurement::Sample::from_iter([
            $(($name.to_owned(), ::serde_json::Value::from($value))),*
        ])
    };
}

pub(in crate::demo) use sample;
