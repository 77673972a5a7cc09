//! The demo: scripted scenes on the running system, and a report of what was promised and measured.

mod lasting;
mod latency;
mod processes;
mod progress;
mod report;
mod runner;
mod scene;
mod scenes;
mod stage;
mod traffic;

pub use latency::Latencies;
pub use processes::ORDER;
pub use report::{Report, SceneReport};
pub use runner::{DemoError, Options, run};
