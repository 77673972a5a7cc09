//! A run of criterion that ends in a table.

use std::{
    fs,
    hint::black_box,
    path::{Path, PathBuf},
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use criterion::{Bencher, Criterion};
use serde::Deserialize;
use tokio::runtime::Handle;

use crate::{
    allocations,
    table::{Of, Table},
};

/// Measures rows, and prints them at the end as a table.
pub struct Run {
    criterion: Criterion,
    /// Criterion's own results, and the table.
    directory: PathBuf,
    table: Table,
}

impl Run {
    /// Begins a run that takes criterion's arguments from the command line and writes below
    /// `target`.
    pub fn new(target: &Path) -> Self {
        let directory = target.join("resilience-bench");
        Self { criterion: criterion(&directory), directory, table: Table::new() }
    }

    /// Begins to measure all rows once more.
    pub fn next_pass(&mut self) {
        // To the one before, each row would be a second one of its name.
        self.criterion = criterion(&self.directory);
    }

    /// Measures what one `call` takes, and what it allocates.
    ///
    /// # Panics
    ///
    /// When a name has characters that a file's name may not have, as all rows do.
    pub fn row<O>(&mut self, case: &str, by: &str, mut call: impl FnMut() -> O) {
        const CALLS: u32 = 1_000;
        let mut allocated = None;
        self.measure(case, by, Of::Fastest, &mut allocated, |bencher, allocated| {
            allocated.get_or_insert_with(|| {
                // What is made once, at a first use, is not a call's.
                (0..2 * CALLS).for_each(|_| drop(call()));
                allocations::of_a_call(CALLS, &mut call)
            });
            // By reference: criterion would move the result once more, which waits for what wrote it.
            bencher.iter(|| {
                black_box(&call());
            });
        });
    }

    /// Measures `call` where it depends on how many came before on the same instance: `make` gives an
    /// instance with that many, and after `batch` calls the next is made.
    ///
    /// # Panics
    ///
    /// As [`row`](Self::row) does.
    pub fn row_in_batches<O, F: FnMut() -> O>(
        &mut self,
        case: &str,
        by: &str,
        batch: u32,
        mut make: impl FnMut() -> F,
    ) {
        let mut allocated = None;
        self.measure(case, by, Of::Fastest, &mut allocated, |bencher, allocated| {
            allocated.get_or_insert_with(|| allocations::of_a_call(batch, &mut make()));
            bencher.iter_custom(|calls| {
                let batches = calls.div_ceil(u64::from(batch));
                let mut took = Duration::ZERO;
                for _ in 0..batches {
                    let mut call = make();
                    let start = Instant::now();
                    (0..batch).for_each(|_| drop(call()));
                    took += start.elapsed();
                }
                scaled(took, calls, batches * u64::from(batch))
            });
        });
    }

    /// Measures two threads that call at the same time, each by a closure of its own from `make`;
    /// the time is per call of either.
    ///
    /// # Panics
    ///
    /// As [`row`](Self::row) does, and when a call panics.
    pub fn two_threads<O, F: FnMut() -> O + Send>(
        &mut self,
        case: &str,
        by: &str,
        make: impl Fn() -> F,
    ) {
        self.measure(case, by, Of::Median, &mut None, |bencher, _| {
            bencher.iter_custom(|calls| {
                let each = calls.div_ceil(2);
                scaled(together(each, &make), calls, 2 * each)
            });
        });
    }

    fn measure(
        &mut self,
        case: &str,
        by: &str,
        of: Of,
        allocated: &mut Option<f64>,
        mut routine: impl FnMut(&mut Bencher<'_>, &mut Option<f64>),
    ) {
        // Other names criterion changes for the file system, and the row would not be found.
        let plain =
            |name: &str| !name.contains(['?', '"', '/', '\\', '*', '<', '>', ':', '|', '^']);
        assert!(
            plain(case) && plain(by),
            "'{case}' by '{by}' has characters that no file may have"
        );
        let samples = self.directory.join(case).join(by).join("new/sample.json");
        // An earlier run's figure must not get into this run's table.
        drop(fs::remove_file(&samples));
        let mut group = self.criterion.benchmark_group(case);
        group.bench_function(by, |bencher| routine(bencher, allocated));
        group.finish();
        // Not there where the filter left the row out.
        let Ok(samples) = fs::read(&samples) else { return };
        let samples: Samples = serde_json::from_slice(&samples).expect("criterion's format");
        self.table.add(case, by, of, samples.nanos(of), *allocated);
    }

    /// Prints the table, and writes it to `resilience-bench/table.md` below the target directory.
    ///
    /// # Panics
    ///
    /// When the file cannot be written.
    pub fn finish(self) {
        self.criterion.final_summary();
        if self.table.rows.is_empty() {
            return; // a list of the rows, or a filter that fits none
        }
        let table = self.table.to_string();
        let file = self.directory.join("table.md");
        fs::write(&file, &table).expect("the target directory can be written");
        println!("{table}\nwritten to {}", file.display());
    }
}

fn criterion(directory: &Path) -> Criterion {
    Criterion::default()
        .output_directory(directory)
        .sample_size(30)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(500))
        .nresamples(5_000)
        .configure_from_args()
}

/// What criterion has measured: how often it called, and the nanoseconds that took.
#[derive(Deserialize)]
struct Samples {
    iters: Vec<f64>,
    times: Vec<f64>,
}

impl Samples {
    fn nanos(&self, of: Of) -> f64 {
        let calls = self.times.iter().zip(&self.iters).map(|(took, calls)| took / calls);
        let mut calls: Vec<f64> = calls.collect();
        of.among(&mut calls)
    }
}

fn scaled(took: Duration, asked: u64, made: u64) -> Duration {
    Duration::from_nanos(
        u64::try_from(took.as_nanos() * u128::from(asked) / u128::from(made)).unwrap_or(u64::MAX),
    )
}

/// How long two threads take that begin together and make this many calls each.
fn together<O, F: FnMut() -> O + Send>(each: u64, make: &impl Fn() -> F) -> Duration {
    let begin = &Barrier::new(2);
    let runtime = Handle::current();
    thread::scope(|scope| {
        let threads = [make(), make()].map(|mut call| {
            let runtime = runtime.clone();
            scope.spawn(move || {
                let _entered = runtime.enter();
                begin.wait();
                let start = Instant::now();
                (0..each).for_each(|_| drop(call()));
                start.elapsed()
            })
        });
        let took = threads.map(|thread| thread.join().expect("a call does not panic"));
        took.into_iter().max().unwrap_or_default()
    })
}
