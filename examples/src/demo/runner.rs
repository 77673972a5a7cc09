use std::{
    fmt,
    io::{self, Write},
    time::{Instant, SystemTime},
};

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use super::{
    lasting,
    machine::Machine,
    measurement::Facts,
    report::{Report, SceneReport},
    scene::{SCENES, Scene},
    stage::Stage,
};
use crate::{
    assembly::StartError,
    management::{Stopping, TOKEN, manage},
    redis_server::RedisError,
    settings, web,
};

/// Starts the whole system on loopback, lets its parts fail, and checks what was promised.
///
/// The exit status is 0 if every promise was kept, 1 if one was broken, 2 if the system did not
/// start or could not be brought back to where a scene starts.
#[derive(Debug, Clone, Parser)]
#[command(version, after_help = guide())]
pub struct Options {
    /// Run this scene only
    #[arg(long, value_name = "N", value_parser = known)]
    scene: Option<u8>,
    /// Print the report as JSON, for machines: every number with the samples that it comes from
    #[arg(long)]
    json: bool,
    /// Show the live page on this port of 127.0.0.1, and keep everything running until ctrl-c
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "9080")]
    serve: Option<u16>,
}

/// Why the demo itself failed; a broken promise is no error but part of the report.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The system did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A request of the demo got no answer.
    #[error("a request of the demo got no answer: {0}")]
    Traffic(#[from] reqwest::Error),
    /// The system did not come to the state from which a scene starts.
    #[error("waited in vain until {0}")]
    Waited(&'static str),
    /// Something is still taken that nobody can be using.
    #[error("waited in vain until nothing is taken any more: {0}")]
    Busy(String),
    /// The demo's Redis did not do as it was told.
    #[error(transparent)]
    Redis(#[from] RedisError),
    /// The provider's ledger is not what was agreed.
    #[error("the ledger cannot be read: {0}")]
    Ledger(#[from] serde_json::Error),
    /// The report cannot be written.
    #[error("the report cannot be written: {0}")]
    Report(#[source] io::Error),
}

/// Writes a line for people: who does not read on is no reason for a panic.
fn tell(text: impl fmt::Display) -> Result<(), DemoError> {
    writeln!(io::stdout(), "{text}").map_err(DemoError::Report)
}

/// Writes the report as one line: samples by the hundred are nothing to read.
fn print(report: &Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, report)?;
    writeln!(out)
}

/// What `--help` tells about the scenes and what comes after them.
fn guide() -> String {
    let line = |scene: &Scene| format!("\n  {}  {}", scene.number, scene.title);
    let scenes: String = SCENES.iter().map(line).collect();
    format!(
        "Scenes, 2 to 12 s each, about 35 s all of them:{scenes}

With --serve, orders go on afterwards, and every 20 s another trouble comes for 8 s: the page shows
breakers open, half-open and closed again, timeouts, and permits and slots that run out.
Changes by hand need a token of 16 characters or more, taken from the environment variable
{TOKEN}; without one there are none."
    )
}

fn known(number: &str) -> Result<u8, String> {
    let known = SCENES.iter().map(|scene| scene.number);
    known.clone().find(|known| number == known.to_string()).ok_or_else(|| {
        let known: Vec<_> = known.map(|number| number.to_string()).collect();
        format!("the scenes are {}", known.join(", "))
    })
}

impl Options {
    fn wants(&self, scene: &Scene) -> bool {
        self.scene.is_none_or(|wanted| wanted == scene.number)
    }
}

/// Runs the scenes, prints what was promised and measured, and returns the report.
///
/// # Errors
///
/// If the system does not start or does not answer.
pub async fn run(options: &Options) -> Result<Report, DemoError> {
    let (began, started) = (SystemTime::now(), Instant::now());
    // Before the demo itself is a load.
    let machine = Machine::this();
    let registry = resilience::init(settings::load(None).map_err(StartError::from)?)
        .map_err(StartError::from)?;
    let management = match options.serve {
        Some(port) => {
            let health = web::health((), async |()| true);
            let management = manage(&registry, port, health, &Stopping::default()).await;
            Some(management.map_err(StartError::from)?)
        }
        None => None,
    };
    let stage = Stage::set(registry).await?;
    if let Some(management) = &management {
        let orders = stage.system.order.url();
        eprintln!(
            "Watch it live at http://{}/actuator; orders go to {orders}",
            management.address()
        );
    }
    let mut scenes = Vec::new();
    for scene in SCENES.iter().filter(|scene| options.wants(scene)) {
        if !options.json {
            tell(format_args!("Scene {}: {}", scene.number, scene.title))?;
        }
        stage.reset().await?;
        let mut report = SceneReport::new(scene);
        // Whatever keeps the scene from its end is the system's failure, not the demo's.
        if let Err(error) = (scene.run)(&stage, &mut report).await {
            let error = Facts::of("the end was", [error]);
            report.promise("the system answers until the scene is over", [error.into()], false);
        }
        if !options.json {
            tell(&report)?;
        }
        scenes.push(report);
    }
    let report = Report::new(scenes, machine, began, started.elapsed());
    if options.json {
        print(&report).map_err(DemoError::Report)?;
    } else {
        tell(format_args!("{}; the run took {:.1} s.", report.verdict(), report.seconds))?;
    }
    if management.is_some() {
        let mut interrupt = signal(SignalKind::interrupt()).map_err(StartError::from)?;
        eprintln!("Everything goes on until ctrl-c");
        tokio::select! {
            played = lasting::play(&stage, lasting::acts()) => played?,
            _ = interrupt.recv() => {}
        }
    }
    stage.clear().await?;
    Ok(report)
}
