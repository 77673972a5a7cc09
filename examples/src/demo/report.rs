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
    /// What is missing for the scene to run, if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_run: Option<String>,
    promises: Vec<Promise>,
    metrics: Map<String, Value>,
}

/// One promise, and what became of it.
#[derive(Debug, Clone, Serialize)]
struct Promise {
    #[serde(rename = "promise")]
    text: &'static str,
    measured: String,
    kept: bool,
}

impl Report {
    pub(super) fn new(scenes: Vec<SceneReport>, took: Duration) -> Self {
        let kept = scenes.iter().all(|scene| scene.kept);
        Self { kept, seconds: took.as_secs_f64(), scenes }
    }

    /// Whether every promise was kept, and what was left out, in words.
    pub(super) fn verdict(&self) -> String {
        let verdict = if self.kept { "Every promise was kept" } else { "A promise was BROKEN" };
        self.scenes
            .iter()
            .filter(|scene| scene.not_run.is_some())
            .fold(verdict.to_owned(), |verdict, scene| {
                format!("{verdict}, and scene {} was NOT RUN", scene.scene)
            })
    }
}

impl SceneReport {
    pub(super) fn new(scene: &Scene) -> Self {
        let (promises, metrics) = (Vec::new(), Map::new());
        Self {
            scene: scene.number,
            title: scene.title,
            kept: true,
            not_run: None,
            promises,
            metrics,
        }
    }

    /// Takes note of what was measured for a promise, and whether that keeps it.
    pub(super) fn promise(&mut self, text: &'static str, measured: impl fmt::Display, kept: bool) {
        self.kept &= kept;
        self.promises.push(Promise { text, measured: measured.to_string(), kept });
    }

    /// Takes note of why the scene cannot run here, which breaks no promise.
    pub(super) fn not_run(&mut self, why: impl fmt::Display) {
        self.not_run = Some(why.to_string());
    }

    /// Takes note of what the library itself says.
    pub(super) fn metric(&mut self, name: &str, value: impl Into<Value>) {
        self.metrics.insert(name.to_owned(), value.into());
    }
}

impl fmt::Display for SceneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = &self.not_run {
            writeln!(f, "  NOT RUN {why}")?;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::scene::SCENES;

    #[test]
    fn one_broken_promise_breaks_the_whole_run() {
        let mut kept = SceneReport::new(&SCENES[0]);
        kept.promise("one", "1 of 1", true);
        let mut broken = SceneReport::new(&SCENES[1]);
        broken.promise("two", "2 of 3", false);
        broken.promise("three", "3 of 3", true);
        assert!(Report::new(vec![kept.clone()], Duration::ZERO).kept);
        assert!(!Report::new(vec![kept, broken], Duration::ZERO).kept);
    }

    #[test]
    fn machines_get_the_promise_the_measurement_and_the_verdict() {
        let mut scene = SceneReport::new(&SCENES[0]);
        scene.promise("nobody waits", "p50 1.00 ms", false);
        scene.metric("paymentCb.state", "OPEN");
        let json = serde_json::to_value(Report::new(vec![scene], Duration::ZERO)).unwrap();
        assert_eq!(json["kept"], false);
        let scene = &json["scenes"][0];
        assert_eq!(scene["promises"][0]["promise"], "nobody waits");
        assert_eq!(scene["promises"][0]["measured"], "p50 1.00 ms");
        assert_eq!(scene["promises"][0]["kept"], false);
        assert_eq!(scene["metrics"]["paymentCb.state"], "OPEN");
    }
}
