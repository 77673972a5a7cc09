use serde_json::Value;

/// Reading of fields that the recorder always writes.
pub trait Fields {
    /// A text; empty when the field is absent.
    fn text(&self, field: &str) -> &str;
    /// A whole number, `None` when the field is absent, negative or no whole number.
    fn natural(&self, field: &str) -> Option<u64>;
    /// The entries of a list; none when the field is absent.
    fn list(&self, field: &str) -> &[Value];
    /// The texts of a list.
    fn texts(&self, field: &str) -> Vec<String>;
}

impl Fields for Value {
    fn text(&self, field: &str) -> &str {
        self[field].as_str().unwrap_or_default()
    }

    fn natural(&self, field: &str) -> Option<u64> {
        self[field].as_u64()
    }

    fn list(&self, field: &str) -> &[Value] {
        self[field].as_array().map_or(&[], Vec::as_slice)
    }

    fn texts(&self, field: &str) -> Vec<String> {
        self.list(field).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}
