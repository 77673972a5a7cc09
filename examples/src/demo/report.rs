use std::{
    fmt,
    time::{Duration, SystemTime},
};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{machine::Machine, measurement::Measurement, scene::Scene};

/// What a run of the demo promised and measured.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Whether every promise was kept.
    pub kept: bool,
    /// The version of the demo.
    version: &'static str,
    /// When the run began, in RFC 3339.
    started_at: String,
    /// How long the run took, in seconds.
    pub seconds: f64,
    /// Where it ran.
    machine: Machine,
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
    not_run: Option<String>,
    promises: Vec<Promise>,
    metrics: Map<String, Value>,
    /// What the library says in its own text, about those whom the metrics are about.
    prometheus: Vec<String>,
}

/// One promise, and what became of it.
#[derive(Debug, Clone, Serialize)]
struct Promise {
    #[serde(rename = "promise")]
    text: &'static str,
    measured: String,
    kept: bool,
    measurements: Vec<Measurement>,
}

impl Report {
    pub(super) fn new(
        scenes: Vec<SceneReport>,
        machine: Machine,
        started: SystemTime,
        took: Duration,
    ) -> Self {
        Self {
            kept: scenes.iter().all(|scene| scene.kept),
            version: env!("CARGO_PKG_VERSION"),
            started_at: humantime::format_rfc3339_millis(started).to_string(),
            seconds: took.as_secs_f64(),
            machine,
            scenes,
        }
    }

    /// What the process ends with: 0 if every promise was kept, else 1.
    pub fn exit_status(&self) -> u8 {
        u8::from(!self.kept)
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
        Self {
            scene: scene.number,
            title: scene.title,
            kept: true,
            not_run: None,
            promises: Vec::new(),
            metrics: Map::new(),
            prometheus: Vec::new(),
        }
    }

    /// Takes note of what was measured for a promise, and whether that keeps it.
    pub(super) fn promise(
        &mut self,
        text: &'static str,
        measurements: impl IntoIterator<Item = Measurement>,
        kept: bool,
    ) {
        let measurements: Vec<_> = measurements.into_iter().collect();
        let measured: Vec<_> = measurements.iter().map(Measurement::to_string).collect();
        self.kept &= kept;
        self.promises.push(Promise { text, measured: measured.join("; "), kept, measurements });
    }

    /// Takes note of why the scene cannot run here, which breaks no promise.
    pub(super) fn not_run(&mut self, why: impl fmt::Display) {
        self.not_run = Some(why.to_string());
    }

    /// Takes note of what the library itself says.
    pub(super) fn metric(&mut self, name: &str, value: impl Into<Value>) {
        self.metrics.insert(name.to_owned(), value.into());
    }

    /// Takes note of the lines in which it says so.
    pub(super) fn prometheus(&mut self, lines: impl IntoIterator<Item = String>) {
        self.prometheus.extend(lines);
    }
}

impl fmt::Display for SceneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = &self.not_run {
            writeln!(f, "  NOT RUN {why}")?;
        }
        for Promise { text, measured, kept, .. } in &self.promises {
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
    use serde_json::json;

    use super::*;
    use crate::demo::{
        measurement::{Count, Number, sample},
        scene::SCENES,
    };

    fn report(scenes: Vec<SceneReport>) -> Report {
        Report::new(scenes, Machine::this(), SystemTime::UNIX_EPOCH, Duration::ZERO)
    }

    fn ones() -> [Measurement; 1] {
        [Number::once("ones", 1).into()]
    }

    #[test]
    fn one_broken_promise_breaks_the_whole_run() {
        let mut kept = SceneReport::new(&SCENES[0]);
        kept.promise("one", ones(), true);
        let mut broken = SceneReport::new(&SCENES[1]);
        broken.promise("two", ones(), false);
        broken.promise("three", ones(), true);
        assert_eq!(report(vec![kept.clone()]).exit_status(), 0);
        assert_eq!(report(vec![kept, broken]).exit_status(), 1);
    }

    #[test]
    fn machines_get_the_promise_the_measurements_with_their_samples_and_the_verdict() {
        let mut scene = SceneReport::new(&SCENES[0]);
        let count = Count::of("200", sample! {"http": 200}, [sample! {"http": 503}]);
        scene.promise("nobody is refused", [count.into(), Number::once("ones", 1).into()], false);
        scene.metric("paymentCb.state", "OPEN");
        let json = serde_json::to_value(report(vec![scene])).unwrap();
        assert_eq!(json["kept"], false);
        assert_eq!(json["started_at"], "1970-01-01T00:00:00.000Z");
        let scene = &json["scenes"][0];
        assert_eq!(scene["not_run"], Value::Null);
        assert_eq!(scene["metrics"]["paymentCb.state"], "OPEN");
        let promise = &scene["promises"][0];
        assert_eq!(promise["promise"], "nobody is refused");
        assert_eq!(promise["measured"], "0 of 1 200; ones 1");
        assert_eq!(promise["kept"], false);
        let count = json!({
            "kind": "count", "name": "200", "value": 0, "of": 1,
            "expected": { "http": 200 }, "samples": [{ "http": 503 }],
        });
        assert_eq!(promise["measurements"][0], count);
    }
}
