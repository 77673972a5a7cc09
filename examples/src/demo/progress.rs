use std::{
    io::{IsTerminal, Write},
    sync::atomic::{AtomicUsize, Ordering},
};

const WIDTH: usize = 30;

/// A bar on standard error that grows with the answers; nothing where nobody watches.
#[derive(Debug)]
pub(super) struct Progress {
    what: &'static str,
    total: usize,
    done: AtomicUsize,
    visible: bool,
}

impl Progress {
    pub(super) fn new(what: &'static str, total: usize) -> Self {
        let visible = std::io::stderr().is_terminal();
        let progress = Self { what, total, done: AtomicUsize::new(0), visible };
        progress.draw(0);
        progress
    }

    pub(super) fn step(&self) {
        self.draw(self.done.fetch_add(1, Ordering::Relaxed) + 1);
    }

    fn draw(&self, done: usize) {
        if !self.visible {
            return;
        }
        let full = (WIDTH * done / self.total.max(1)).min(WIDTH);
        let (bar, rest) = ("#".repeat(full), ".".repeat(WIDTH - full));
        let line = format!("\r\x1b[2K  {} [{bar}{rest}] {done}/{}", self.what, self.total);
        // A terminal that cannot be written to is no reason to end the demo.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.visible {
            let _ = std::io::stderr().write_all(b"\r\x1b[2K");
        }
    }
}
