use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

/// A folder for files of one test, which goes with it.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn new() -> Self {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let n = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("command-{}-{n}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder in the target directory");
        Self { path }
    }

    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        fs::write(self.path.join(name), text).expect("the folder is ours");
        self
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).expect("the file was written")
    }

    /// Runs the command here.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    /// The same with an answer that goes elsewhere.
    pub(crate) fn run_into(&self, arguments: &[&str], answer: Stdio) -> Ran {
        let output = self.command(arguments).stdout(answer).output();
        Ran::of(&output.expect("the command was built"))
    }

    pub(crate) fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let output = self.command(arguments).envs(variables.iter().copied()).output();
        Ran::of(&output.expect("the command was built"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_resilience"));
        command.args(arguments).current_dir(&self.path);
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What a run came to.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) answer: String,
    pub(crate) remarks: String,
}

impl Ran {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("texts in UTF-8");
        Self {
            status: output.status.code().expect("no signal"),
            answer: text(&output.stdout),
            remarks: text(&output.stderr),
        }
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.answer).expect("JSON")
    }

    /// Whether a line of the answer has these words, in this order and nothing else.
    pub(crate) fn has_line(&self, words: &[&str]) -> bool {
        self.answer.lines().any(|line| line.split_whitespace().eq(words.iter().copied()))
    }
}
