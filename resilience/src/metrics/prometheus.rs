//! The text that Prometheus scrapes.

use std::fmt::{self, Display, Write as _};

use super::{
    collect::collect,
    family::{Kind, Labels},
    point::Value,
};
use crate::Resilience;

/// The `Content-Type` of what [`Resilience::prometheus`] returns.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Resilience {
    /// Returns the metrics of all instances in Prometheus' text format, version 0.0.4.
    ///
    /// Their names and labels are those of [`metrics`](crate::metrics). The text is made from the instances
    /// as they are now, one after the other. To serve it, say
    /// [`CONTENT_TYPE`].
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), resilience::ConfigError> {
    /// let registry = Resilience::from_config(Config::builder().application("orders").load()?)?;
    /// let _ = registry.retry("payment").call(|| async { Ok::<_, &str>("paid") }).await;
    /// let expected = "resilience4j_retry_calls_total{application=\"orders\",name=\"payment\",key=\"\",\
    ///                 kind=\"successful_without_retry\"} 1\n";
    /// assert!(registry.prometheus().contains(expected));
    /// # Ok(())
    /// # }
    /// ```
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        // A string takes everything.
        let _ = write(self, &mut text);
        text
    }
}

fn write(registry: &Resilience, text: &mut String) -> fmt::Result {
    let application = registry.application();
    for family in collect(registry) {
        let about = family.about;
        writeln!(text, "# HELP {} {}", about.name, about.help)?;
        writeln!(text, "# TYPE {} {}", about.name, about.kind)?;
        let mut outcome = Ok(());
        family.each(&application, |suffix, labels, value| {
            outcome = outcome.and_then(|()| {
                write!(text, "{}{suffix}", about.name)?;
                write_labels(text, labels)?;
                writeln!(text, " {value}")
            });
        });
        outcome?;
    }
    Ok(())
}

fn write_labels(text: &mut String, labels: &Labels<'_>) -> fmt::Result {
    let mut opening = '{';
    for (name, value) in labels {
        write!(text, "{opening}{name}=\"{}\"", Escaped(value.as_str()))?;
        opening = ',';
    }
    text.write_char('}')
}

/// The value of a label as it stands between quotes.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        })
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(n) => n.fmt(f),
            Value::Level(x) => x.fmt(f),
        }
    }
}
