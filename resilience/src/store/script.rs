use std::sync::LazyLock;

use redis::Cmd;

/// A script that decides on the server, as a whole.
pub(crate) struct Script {
    body: &'static str,
    hash: LazyLock<String>,
    undo: Option<&'static Self>,
    in_one_go: bool,
}

impl Script {
    pub(crate) const fn new(body: &'static str, hash: fn() -> String) -> Self {
        Self { body, hash: LazyLock::new(hash), undo: None, in_one_go: false }
    }

    /// A script that, with the same key and arguments, takes back what this one has done.
    const fn undone_by(mut self, undo: &'static Self) -> Self {
        self.undo = Some(undo);
        self
    }

    /// A script that is always sent whole: sent once more because the server did not know it, it would
    /// come after what was asked later.
    const fn in_one_go(mut self) -> Self {
        self.in_one_go = true;
        self
    }

    /// The command by which it is tried first.
    pub(super) fn first(&self, key: &str, arguments: &[String]) -> Cmd {
        if self.in_one_go { self.by_body(key, arguments) } else { self.by_hash(key, arguments) }
    }

    /// What has to follow where nobody is there any more to hear of what was done.
    pub(super) fn undo(&self) -> Option<&'static Self> {
        self.undo
    }

    /// Runs the script if the server knows it, which saves sending it.
    fn by_hash(&self, key: &str, arguments: &[String]) -> Cmd {
        Self::command("EVALSHA", &self.hash, key, arguments)
    }

    /// Runs the script and has the server know it from now on.
    pub(super) fn by_body(&self, key: &str, arguments: &[String]) -> Cmd {
        Self::command("EVAL", self.body, key, arguments)
    }

    fn command(name: &str, script: &str, key: &str, arguments: &[String]) -> Cmd {
        let mut command = redis::cmd(name);
        command.arg(script).arg(1).arg(key).arg(arguments);
        command
    }
}

/// A static script out of `scripts/`.
macro_rules! script {
    ($file:literal) => {
        $crate::store::Script::new(include_str!(concat!("scripts/", $file)), || {
            let body = include_str!(concat!("scripts/", $file));
            redis::Script::new(body).get_hash().to_owned()
        })
    };
}

/// Counts in windows of the server's clock.
pub(crate) static FIXED_WINDOW: Script = script!("fixed_window.lua");
/// Lets permissions trickle back one by one.
pub(crate) static GCRA: Script = script!("gcra.lua");
/// Takes a key for the holder of a token.
pub(crate) static OWN: Script = script!("own.lua").undone_by(&DISOWN);
/// Lets go of it.
pub(crate) static DISOWN: Script = script!("disown.lua").in_one_go();
/// Counts what breakers tell, and says what state they share.
pub(crate) static BREAKER: Script = script!("breaker.lua");
