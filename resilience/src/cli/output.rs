use std::{
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
};

/// What a task has to say and how it ended.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The answer, for standard output.
    pub(super) text: String,
    /// Remarks, for standard error.
    pub(super) remarks: String,
    pub(super) failed: bool,
}

impl Output {
    pub(super) fn answer(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// No answer, and why.
    pub(super) fn failure(reason: impl Into<String>) -> Self {
        let remarks = format!("error: {}\n", reason.into());
        Self { remarks, failed: true, ..Self::default() }
    }

    /// Writes everything. A reader who has gone, such as `head`, has read enough.
    pub(super) fn print(mut self) -> ExitCode {
        let mut out = io::stdout();
        let written = out.write_all(self.text.as_bytes()).and_then(|()| out.flush());
        if let Err(error) = written.or_else(unless_gone) {
            let _ = writeln!(self.remarks, "error: cannot write the answer: {error}"); // a String takes everything
            self.failed = true;
        }
        let told = io::stderr().write_all(self.remarks.as_bytes()).or_else(unless_gone);
        if self.failed || told.is_err() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

fn unless_gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}
