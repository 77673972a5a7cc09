//! What a protected call costs: `cargo bench -p resilience-bench`.
