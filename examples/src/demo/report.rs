use std::{fmt, time::Duration};

use serde::Serialize;
use serde_json::{Map, Value};

use super::scene::Scene;

/// What a run of the demo promised and measured.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Whether every promise was kept.
    pub kept: bool,
    /// How long the run took, in seconds.
    pub seconds: f64,
    /// The scenes that ran.
    pub scenes: Vec<SceneReport>,
}

/// What one scene promised and measured.
#[derive(Debug, Clone, Serialize)]
pub struct SceneReport {
    /// The scene's number.
    pub scene: u8,
    /// What happens in it.
    pub title: &'static str,
    /// Whether every promise was kept.
    pub kept: bool,
    promises: Vec<Promise>,
    metrics: Map<String, Value>,
}

/// One promise, and what became of it.
#[derive(Debug, Clone, Serialize)]
struct Promise {
    text: &'static str,
    measured: String,
    kept: bool,
}

impl Report {
    pub(super) fn new(scenes: Vec<SceneReport>, took: Duration) -> Self {
        let kept = scenes.iter().all(|scene| scene.kept);
        Self { kept, seconds: took.as_secs_f64(), scenes }
    }
}

impl SceneReport {
    pub(super) fn new(scene: &Scene) -> Self {
        let (promises, metrics) = (Vec::new(), Map::new());
        Self { scene: scene.number, title: scene.title, kept: true, promises, metrics }
    }

    /// Takes note of what was measured for a promise, and whether that keeps it.
    pub(super) fn promise(&mut self, text: &'static str, measured: impl fmt::Display, kept: bool) {
        self.kept &= kept;
        self.promises.push(Promise { text, measured: measured.to_string(), kept });
    }

    /// Takes note of what the library itself says.
    pub(super) fn metric(&mut self, name: &str, value: impl Into<Value>) {
        self.metrics.insert(name.to_owned(), value.into());
    }
}

impl fmt::Display for SceneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Promise { text, measured, kept } in &self.promises {
            let verdict = if *kept { "kept  " } else { "BROKEN" };
            writeln!(f, "  {verdict}  {text}")?;
            writeln!(f, "          measured: {measured}")?;
        }
        for (name, value) in &self.metrics {
            writeln!(f, "          metric:   {name} = {value}")?;
        }
        Ok(())
    }
}
