//! Boards find in a scrape what they ask for: ours, and those made for Resilience4j.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use std::{
    collections::{BTreeSet, HashSet},
    convert::Infallible,
};

use promql_parser::{
    label::{MatchOp, Matcher},
    parser::{self, Expr, LabelModifier, VectorSelector},
    util::{ExprVisitor, walk_expr},
};
use resilience_tests::{
    exposition::{Exposition, Sample},
    observed::program,
};
use serde_json::Value;

/// Labels that Prometheus puts on what it scrapes.
const OF_THE_TARGET: [&str; 2] = ["instance", "job"];

async fn scrape() -> Exposition {
    let (registry, _hand) = program().await;
    Exposition::parse(&registry.prometheus()).unwrap()
}

fn board() -> Value {
    serde_json::from_str(include_str!("../../grafana/resilience.json")).unwrap()
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}: {value}"))
}

/// Every query of the board by the title of its panel, with values in the place of variables.
fn queries(board: &Value) -> Vec<(&str, String)> {
    let panels = list(board, "/panels").iter();
    let of_panel = |panel| list(panel, "/targets").iter().map(move |target| (panel, target));
    let in_panels = panels
        // This program shares nothing; the library's own tests look at what a store tells.
        .filter(|panel| !is_about_the_store(panel))
        .flat_map(of_panel)
        .map(|(panel, target)| (text(panel, "/title"), text(target, "/expr").to_owned()));
    let variables = list(board, "/templating/list").iter();
    let in_variables = variables.filter(|v| v["type"] == "query").map(|variable| {
        let query = text(variable, "/query/query");
        let (selector, label) = inside(query, "label_values(", ")").rsplit_once(", ").unwrap();
        (text(variable, "/name"), format!("count by ({label}) ({selector})"))
    });
    in_panels.chain(in_variables).map(|(title, query)| (title, with_values(&query))).collect()
}

fn is_about_the_store(panel: &Value) -> bool {
    list(panel, "/targets").iter().any(|target| text(target, "/expr").contains("resilience_store_"))
}

fn inside<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.strip_prefix(before).and_then(|text| text.strip_suffix(after)).unwrap()
}

fn with_values(query: &str) -> String {
    let values = [("$__rate_interval", "1m"), ("$application", "orders"), ("$name", ".*")];
    let query =
        values.iter().fold(query.to_owned(), |query, (name, value)| query.replace(name, value));
    assert!(!query.contains('$'), "an unknown variable: {query}");
    query
}

/// Looks for what a query selects.
struct Search<'a> {
    exposition: &'a Exposition,
    missing: Vec<String>,
    /// The metrics that were found.
    found: BTreeSet<String>,
    /// The labels of what was found since the innermost aggregation began.
    labels: HashSet<String>,
}

impl<'a> Search<'a> {
    fn new(exposition: &'a Exposition) -> Self {
        let (missing, found, labels) = (Vec::new(), BTreeSet::new(), HashSet::new());
        Self { exposition, missing, found, labels }
    }

    fn look_for(&mut self, query: &str) {
        let expr = parser::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let Ok(_) = walk_expr(self, &expr);
    }

    fn select(&mut self, selector: &VectorSelector) {
        let name = |sample: &Sample| selector.name.as_ref().is_none_or(|name| *name == sample.name);
        let mut series: Vec<&Sample> = self.exposition.samples().filter(|s| name(s)).collect();
        for matcher in &selector.matchers.matchers {
            if OF_THE_TARGET.contains(&matcher.name.as_str()) {
                continue;
            }
            for matcher in alternatives(matcher) {
                if !series.iter().any(|sample| matches(&matcher, sample)) {
                    self.missing.push(format!("{selector}: nothing has {matcher}"));
                }
            }
            series.retain(|sample| matches(matcher, sample));
        }
        if series.is_empty() {
            self.missing.push(format!("{selector}: there is no such series"));
        }
        self.found.extend(series.iter().map(|sample| sample.name.clone()));
        let labels = series.iter().flat_map(|sample| &sample.labels);
        self.labels.extend(labels.map(|(name, _)| name.clone()));
    }
}

/// What a matcher allows, one by one where it lists words.
fn alternatives(matcher: &Matcher) -> Vec<Matcher> {
    let is_list = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_|".contains(c));
    match &matcher.op {
        MatchOp::Re(_) if is_list(&matcher.value) => {
            let word = |word| Matcher::new(MatchOp::Equal, &matcher.name, word);
            matcher.value.split('|').map(word).collect()
        }
        _ => vec![matcher.clone()],
    }
}

/// A label that a series does not have is no match here, whatever Prometheus says: it is a mistake.
fn matches(matcher: &Matcher, sample: &Sample) -> bool {
    let value = match matcher.name.as_str() {
        "__name__" => Some(sample.name.as_str()),
        name => sample.label(name),
    };
    value.is_some_and(|value| matcher.is_match(value))
}

impl ExprVisitor for Search<'_> {
    type Error = Infallible;

    fn pre_visit(&mut self, expr: &Expr) -> Result<bool, Infallible> {
        match expr {
            Expr::VectorSelector(selector) => self.select(selector),
            Expr::MatrixSelector(matrix) => self.select(&matrix.vs),
            Expr::Aggregate(_) => self.labels.clear(),
            _ => {}
        }
        Ok(true)
    }

    fn post_visit(&mut self, expr: &Expr) -> Result<bool, Infallible> {
        if let Expr::Aggregate(aggregate) = expr
            && let Some(LabelModifier::Include(by) | LabelModifier::Exclude(by)) =
                &aggregate.modifier
        {
            let known = |label: &&String| self.labels.contains(*label);
            let unknown = by.labels.iter().find(|label| !known(label));
            self.missing.extend(unknown.map(|label| format!("{expr}: nothing has {label}")));
        }
        Ok(true)
    }
}

#[tokio::test]
async fn every_query_of_the_board_finds_its_series() {
    let exposition = scrape().await;
    let mut search = Search::new(&exposition);
    let board = board();
    let queries = queries(&board);
    assert!(queries.len() > 40, "{}", queries.len());
    for (title, query) in &queries {
        search.look_for(query);
        assert_eq!(search.missing, [""; 0], "{title}: {query}");
    }
}

#[tokio::test]
async fn every_metric_is_on_the_board() {
    let exposition = scrape().await;
    let mut search = Search::new(&exposition);
    let board = board();
    for (_, query) in queries(&board).iter().filter(|(_, query)| !query.contains("__name__")) {
        search.look_for(query);
    }
    let names: BTreeSet<_> = exposition.samples().map(|sample| sample.name.clone()).collect();
    assert_eq!(names.difference(&search.found).collect::<Vec<_>>(), [""; 0]);
}

#[tokio::test]
async fn a_query_for_what_is_not_there_is_found_out() {
    let exposition = scrape().await;
    let mut search = Search::new(&exposition);
    for (query, expected) in [
        ("resilience4j_retry_call_total", "there is no such series"),
        (r#"resilience4j_retry_calls_total{outcome=~".*"}"#, "nothing has outcome"),
        (r#"resilience4j_circuitbreaker_state{state=~"open|ajar"}"#, "nothing has state=\"ajar\""),
        (r#"sum(rate(resilience4j_retry_calls_total{kind="ok"}[1m]))"#, "nothing has kind=\"ok\""),
        ("sum by (state) (resilience4j_retry_calls_total)", "nothing has state"),
    ] {
        search.look_for(query);
        let missing = std::mem::take(&mut search.missing).join("; ");
        assert!(missing.contains(expected), "{query}: {missing}");
    }
}

#[test]
fn the_panels_have_places_and_numbers_of_their_own_and_the_chosen_source() {
    let board = board();
    assert!(board["schemaVersion"].as_u64() >= Some(39), "Grafana 10");
    let (mut ids, mut cells) = (HashSet::new(), HashSet::new());
    for panel in list(&board, "/panels") {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        let [x, y, w, h] =
            ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap());
        assert!(x + w <= 24, "{panel}");
        for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(cells.insert(cell), "two panels at {cell:?}: {panel}");
        }
        if panel["type"] != "row" {
            assert_eq!(text(panel, "/datasource/uid"), "${datasource}");
        }
    }
    let variables: Vec<_> = list(&board, "/templating/list").iter().map(|v| &v["name"]).collect();
    assert_eq!(variables, ["datasource", "application", "name"]);
}

/// What Resilience4j's own board asks for: metrics, and the labels that it chooses and sums by.
const THEIR_BOARD: [(&str, &[&str]); 11] = [
    ("resilience4j_circuitbreaker_state", &["instance", "name", "state"]),
    ("resilience4j_circuitbreaker_failure_rate", &["instance", "name"]),
    ("resilience4j_circuitbreaker_calls_seconds_count", &["instance", "kind", "name"]),
    ("resilience4j_circuitbreaker_calls_seconds_sum", &["instance", "kind", "name"]),
    (
        "resilience4j_circuitbreaker_calls_seconds_bucket",
        &["application", "instance", "le", "name"],
    ),
    // Older releases had this one; it is one of ours, for keys and for calls that were dropped.
    ("resilience4j_circuitbreaker_calls_total", &["instance", "kind", "name"]),
    ("resilience4j_circuitbreaker_buffered_calls", &["instance", "kind", "name"]),
    ("resilience4j_circuitbreaker_max_buffered_calls", &["instance", "name"]),
    ("resilience4j_retry_calls_total", &["application", "kind", "name"]),
    ("resilience4j_bulkhead_available_concurrent_calls", &["application", "name"]),
    ("resilience4j_bulkhead_max_allowed_concurrent_calls", &["application", "name"]),
];

/// The values of its metrics' labels, where they have any beside the name.
const THEIRS: [(&str, &str, &[&str]); 23] = [
    (
        "circuitbreaker_state",
        "state",
        &["closed", "open", "half_open", "forced_open", "disabled", "metrics_only"],
    ),
    ("circuitbreaker_buffered_calls", "kind", &["failed", "successful"]),
    ("circuitbreaker_slow_calls", "kind", &["failed", "successful"]),
    ("circuitbreaker_failure_rate", "", &[]),
    ("circuitbreaker_slow_call_rate", "", &[]),
    ("circuitbreaker_calls_seconds_count", "kind", &["successful", "failed", "ignored"]),
    ("circuitbreaker_calls_seconds_sum", "kind", &["successful", "failed", "ignored"]),
    ("circuitbreaker_calls_seconds_max", "kind", &["successful", "failed", "ignored"]),
    ("circuitbreaker_not_permitted_calls_total", "kind", &["not_permitted"]),
    (
        "retry_calls_total",
        "kind",
        &[
            "successful_without_retry",
            "successful_with_retry",
            "failed_without_retry",
            "failed_with_retry",
        ],
    ),
    ("ratelimiter_available_permissions", "", &[]),
    ("ratelimiter_waiting_threads", "", &[]),
    ("bulkhead_available_concurrent_calls", "", &[]),
    ("bulkhead_max_allowed_concurrent_calls", "", &[]),
    ("bulkhead_queue_depth", "", &[]),
    ("bulkhead_queue_capacity", "", &[]),
    ("bulkhead_thread_pool_size", "", &[]),
    ("bulkhead_core_thread_pool_size", "", &[]),
    ("bulkhead_max_thread_pool_size", "", &[]),
    ("bulkhead_active_thread_count", "", &[]),
    ("bulkhead_available_thread_count", "", &[]),
    ("timelimiter_calls_total", "kind", &["successful", "failed", "timeout"]),
    ("circuitbreaker_calls_seconds_bucket", "le", &["+Inf"]),
];

#[tokio::test]
async fn resilience4js_board_finds_its_series() {
    let exposition = scrape().await;
    for (metric, labels) in THEIR_BOARD {
        let series: Vec<_> = exposition.with(metric, &[]).collect();
        assert!(!series.is_empty(), "{metric}");
        for label in labels.iter().filter(|label| !OF_THE_TARGET.contains(label)) {
            assert!(series.iter().all(|s| s.label(label).is_some()), "{metric} has no {label}");
        }
    }
}

#[tokio::test]
async fn every_metric_of_resilience4j_is_there_with_its_labels() {
    let exposition = scrape().await;
    for (metric, label, values) in THEIRS {
        let metric = format!("resilience4j_{metric}");
        assert!(exposition.with(&metric, &[("name", "payment")]).next().is_some(), "{metric}");
        for value in values {
            let found = exposition.with(&metric, &[("name", "payment"), (label, value)]).count();
            assert_eq!(found, 1 + 2 * usize::from(label == "le"), "{metric} {label} {value}");
        }
    }
}
