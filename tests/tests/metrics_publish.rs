//! The same numbers through the `metrics` crate, for a recorder of the program's own.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString,
    Unit, set_default_local_recorder, with_local_recorder,
};
use resilience::{
    Config, Resilience,
    metrics::{DEFAULT_PERIOD, publish, publish_every},
};
use resilience_tests::{exposition::Exposition, observed::program};

/// Keeps everything, by series.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Content>>);

#[derive(Default)]
struct Content {
    counters: BTreeMap<String, f64>,
    gauges: BTreeMap<String, f64>,
    descriptions: BTreeMap<String, String>,
    /// How often each counter was set, in all.
    sets: usize,
}

struct Series(Kept, String);

impl Kept {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap()
    }

    fn series(&self, key: &Key) -> Arc<Series> {
        let labels: Vec<_> = key.labels().map(|label| (label.key(), label.value())).collect();
        Arc::new(Series(self.clone(), format!("{}{labels:?}", key.name())))
    }

    fn describe(&self, name: &KeyName, description: &SharedString) {
        let [name, description] = [name.as_str(), description].map(str::to_owned);
        self.content().descriptions.insert(name, description);
    }
}

impl CounterFn for Series {
    fn increment(&self, _: u64) {
        panic!("counters are set: {}", self.1);
    }

    #[allow(clippy::cast_precision_loss)] // the tests count few things
    fn absolute(&self, value: u64) {
        let mut content = self.0.content();
        content.sets += 1;
        content.counters.insert(self.1.clone(), value as f64);
    }
}

impl GaugeFn for Series {
    fn increment(&self, _: f64) {
        panic!("gauges are set: {}", self.1);
    }

    fn decrement(&self, _: f64) {
        panic!("gauges are set: {}", self.1);
    }

    fn set(&self, value: f64) {
        self.0.content().gauges.insert(self.1.clone(), value);
    }
}

impl Recorder for Kept {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, &description);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, &description);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        panic!("the series of a histogram are counters and a gauge: {name:?}");
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.series(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.series(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        panic!("the series of a histogram are counters and a gauge: {key:?}");
    }
}

#[tokio::test]
async fn what_is_published_is_what_a_scrape_says() {
    let (registry, _hand) = program().await;
    let kept = Kept::default();
    with_local_recorder(&kept, || publish(&registry));

    let (mut counters, mut gauges) = (BTreeMap::new(), BTreeMap::new());
    let exposition = Exposition::parse(&registry.prometheus()).unwrap();
    for family in &exposition.families {
        for sample in &family.samples {
            let is_gauge = family.kind == "gauge" || sample.name.ends_with("_seconds_sum");
            let into = if is_gauge { &mut gauges } else { &mut counters };
            let labels: Vec<_> = sample.labels.iter().map(|(k, v)| (k, v)).collect();
            into.insert(format!("{}{labels:?}", sample.name), sample.value);
        }
    }
    let content = kept.content();
    assert_eq!(content.counters, counters);
    assert_eq!(content.gauges, gauges);
    for family in exposition.families.iter().filter(|family| family.kind != "histogram") {
        assert!(content.descriptions.contains_key(&family.name), "{}", family.name);
    }
}

fn small_registry() -> Resilience {
    let registry = Resilience::from_config(Config::default()).unwrap();
    let _ = registry.rate_limiter("x");
    registry
}

#[tokio::test(start_paused = true)]
async fn a_publisher_publishes_at_once_and_then_every_period_until_it_is_dropped() {
    let kept = Kept::default();
    let _guard = set_default_local_recorder(&kept);
    let registry = small_registry();
    let publisher = publish_every(&registry, DEFAULT_PERIOD);
    tokio::time::sleep(Duration::from_millis(1)).await;
    let once = kept.content().sets;
    assert!(once > 0);
    tokio::time::sleep(2 * DEFAULT_PERIOD).await;
    assert_eq!(kept.content().sets, 3 * once);

    drop(publisher);
    tokio::time::sleep(2 * DEFAULT_PERIOD).await;
    assert_eq!(kept.content().sets, 3 * once);
}

#[tokio::test(start_paused = true)]
async fn a_publisher_does_not_keep_its_registry() {
    let kept = Kept::default();
    let _guard = set_default_local_recorder(&kept);
    let registry = small_registry();
    let _publisher = publish_every(&registry, DEFAULT_PERIOD);
    tokio::time::sleep(Duration::from_millis(1)).await;
    let once = kept.content().sets;
    drop(registry);
    tokio::time::sleep(2 * DEFAULT_PERIOD).await;
    assert_eq!(kept.content().sets, once);
}
