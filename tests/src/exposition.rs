//! Prometheus' text format as a scrape takes it, and what a good text of it has beyond its syntax.

use std::collections::{BTreeMap, HashSet};

/// A text that was scraped.
#[derive(Debug)]
pub struct Exposition {
    /// The families in their order.
    pub families: Vec<Family>,
}

/// What one `HELP` and one `TYPE` are about.
#[derive(Debug)]
pub struct Family {
    /// The name that both say.
    pub name: String,
    /// `counter`, `gauge` or `histogram`.
    pub kind: String,
    /// The series in their order.
    pub samples: Vec<Sample>,
}

/// One series with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The metric.
    pub name: String,
    /// The labels in their order.
    pub labels: Vec<(String, String)>,
    /// The value.
    pub value: f64,
}

impl Sample {
    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn series(&self) -> String {
        format!("{}{:?}", self.name, self.labels)
    }

    fn values_but_bound(&self) -> Vec<&str> {
        let kept = self.labels.iter().filter(|(name, _)| name != "le");
        kept.map(|(_, value)| value.as_str()).collect()
    }
}

impl Exposition {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// Names the first line that is none of the format.
    pub fn parse(text: &str) -> Result<Self, String> {
        if !text.ends_with('\n') {
            return Err("the last line has no end".into());
        }
        let mut families: Vec<Family> = Vec::new();
        let mut help = None;
        for line in text.lines() {
            let wrong = || format!("not of the format: {line}");
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, _) = rest.split_once(' ').ok_or_else(wrong)?;
                help = Some(name);
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').ok_or_else(wrong)?;
                if help.take() != Some(name) {
                    return Err(format!("no HELP right before: {line}"));
                }
                let [name, kind] = [name, kind].map(str::to_owned);
                families.push(Family { name, kind, samples: Vec::new() });
            } else {
                let sample = sample(line).ok_or_else(wrong)?;
                let family = families.last_mut().filter(|family| family.has(&sample.name));
                family.ok_or_else(wrong)?.samples.push(sample);
            }
        }
        Ok(Self { families })
    }

    /// Every series.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.families.iter().flat_map(|family| &family.samples)
    }

    /// The value of the one series that has the name and these labels among its own.
    ///
    /// # Panics
    ///
    /// When there is none, or more than one.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let found: Vec<&Sample> = self.with(name, labels).collect();
        let [sample] = found[..] else { panic!("{name} {labels:?}: {found:#?}") };
        sample.value
    }

    /// All series that have the name and these labels among their own.
    pub fn with<'a>(
        &'a self,
        name: &'a str,
        labels: &'a [(&'a str, &'a str)],
    ) -> impl Iterator<Item = &'a Sample> {
        self.samples().filter(move |sample| {
            let has = |(label, value): &(&str, &str)| sample.label(label) == Some(value);
            sample.name == name && labels.iter().all(has)
        })
    }

    /// What must never fall, by its series.
    pub fn counters(&self) -> BTreeMap<String, f64> {
        let counters = self.families.iter().filter(|family| family.kind != "gauge");
        let samples = counters.flat_map(|family| &family.samples);
        samples.map(|sample| (sample.series(), sample.value)).collect()
    }

    /// What is wrong beyond the syntax.
    pub fn flaws(&self) -> Vec<String> {
        let mut flaws = Vec::new();
        let names: Vec<&str> = self.families.iter().map(|family| family.name.as_str()).collect();
        if !names.is_sorted_by(|a, b| a < b) {
            flaws.push(format!("families are not sorted, or there twice: {names:?}"));
        }
        let mut series = HashSet::new();
        for sample in self.samples() {
            if !series.insert(sample.series()) {
                flaws.push(format!("there twice: {}", sample.series()));
            }
            if !sample.value.is_finite() {
                flaws.push(format!("no number: {sample:?}"));
            }
        }
        for family in &self.families {
            family.add_flaws(&mut flaws);
        }
        flaws
    }
}

impl Family {
    fn has(&self, name: &str) -> bool {
        match name.strip_prefix(&self.name) {
            Some("") => self.kind != "histogram",
            Some("_bucket" | "_sum" | "_count") => self.kind == "histogram",
            _ => false,
        }
    }

    fn add_flaws(&self, flaws: &mut Vec<String>) {
        let name = &self.name;
        let mut label_sets = BTreeMap::new();
        for sample in &self.samples {
            let labels: Vec<&str> = sample.labels.iter().map(|(name, _)| name.as_str()).collect();
            let first = label_sets.entry(&sample.name).or_insert_with(|| labels.clone());
            if *first != labels {
                flaws.push(format!("{name} has series with {first:?} and with {labels:?}"));
            }
        }
        if !self.samples.is_sorted_by_key(Sample::values_but_bound) {
            flaws.push(format!("the series of {name} are not sorted"));
        }
        if self.kind == "counter" && !name.ends_with("_total") {
            flaws.push(format!("the counter {name} does not end in _total"));
        }
        if self.kind == "histogram" {
            for group in self.samples.chunk_by(|a, b| a.values_but_bound() == b.values_but_bound())
            {
                flaws.extend(
                    flaw_of_histogram(group).map(|flaw| format!("{name}: {flaw}: {group:?}")),
                );
            }
        }
    }
}

fn flaw_of_histogram(group: &[Sample]) -> Option<&'static str> {
    let [buckets @ .., sum, count] = group else { return Some("neither sum nor count") };
    if !sum.name.ends_with("_sum") || !count.name.ends_with("_count") {
        return Some("sum and count are not at the end");
    }
    let bound = |sample: &Sample| sample.label("le")?.parse::<f64>().ok();
    let bounds: Option<Vec<f64>> = buckets.iter().map(bound).collect();
    let Some(bounds) = bounds else { return Some("a bucket without a bound") };
    if !bounds.is_sorted_by(|a, b| a < b) || bounds.last() != Some(&f64::INFINITY) {
        return Some("bounds that do not grow to infinity");
    }
    if !buckets.is_sorted_by(|a, b| a.value <= b.value) {
        return Some("buckets are not cumulative");
    }
    (buckets.last().map(|last| last.value) != Some(count.value)).then_some("+Inf is not the count")
}

/// `name{a="b",c="d"} 1`
fn sample(line: &str) -> Option<Sample> {
    let (name, mut rest) = line.split_once('{')?;
    let is_name = |text: &str| {
        let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
        text.starts_with(is_start) && text.chars().all(|c| is_start(c) || c.is_ascii_digit())
    };
    let mut labels = Vec::new();
    while let Some((label, after)) = rest.split_once("=\"") {
        let (value, after) = quoted(after)?;
        if !is_name(label) {
            return None;
        }
        labels.push((label.to_owned(), value));
        rest = after;
        let Some(more) = after.strip_prefix(',') else { break };
        rest = more;
    }
    let value = rest.strip_prefix("} ")?.parse().ok()?;
    is_name(name).then(|| Sample { name: name.to_owned(), labels, value })
}

/// The text up to the closing quote, and what comes after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                c @ ('\\' | '"') => c,
                _ => return None,
            }),
            c => value.push(c),
        }
    }
    None
}
