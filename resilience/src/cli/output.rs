use std::{
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
    pub(super) fn print(self) -> ExitCode {
        let written = io::stdout().write_all(self.text.as_bytes());
        let failed = match written.and_then(|()| io::stderr().write_all(self.remarks.as_bytes())) {
            Err(error) => self.failed || error.kind() != io::ErrorKind::BrokenPipe,
            Ok(()) => self.failed,
        };
        if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}
