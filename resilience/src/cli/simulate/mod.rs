//! `resilience simulate`: the real instances, on virtual time, before a backend that is described.

mod arguments;
mod arrivals;
mod backend;
mod bars;
mod executor;
mod phases;
mod reader;
mod record;
mod scenario;
mod simulation;
mod stack;
mod svg;
mod table;
mod timeline;

use std::{fs, rc::Rc};

pub(super) use arguments::Arguments;

use super::Output;
use crate::config::one_line;
use scenario::Scenario;

pub(super) fn run(arguments: &Arguments) -> Output {
    match simulate(arguments) {
        Ok(text) => Output::answer(text),
        Err(reason) => Output::failure(reason),
    }
}

fn simulate(arguments: &Arguments) -> Result<String, String> {
    let load = || arguments.sources.load([&arguments.file]);
    let config = load().map_err(|error| error.to_string())?;
    let scenario = Scenario::read(&arguments.scenario).map_err(|problem| problem.to_string())?;
    let record = simulation::run(config, &Rc::new(scenario))?;
    if let Some(path) = &arguments.svg {
        fs::write(path, svg::of(&record)).map_err(|error| {
            let path = one_line(&path.display().to_string());
            format!("cannot write {path}: {error}")
        })?;
    }
    Ok(format!("{}\n{}", table::of(&record), timeline::of(&record)))
}
