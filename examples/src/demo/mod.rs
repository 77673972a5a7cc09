//! The demo: scripted scenes on the running system, and a report of what was promised and measured.

mod clients;
mod gauges;
mod lasting;
mod machine;
mod measurement;
mod processes;
mod progress;
mod report;
mod runner;
mod scene;
mod scenes;
mod stage;
mod traffic;

pub use processes::ORDER;
pub use report::{Report, SceneReport};
pub use runner::{DemoError, Options, run};
