use std::fmt;

use redis::{ErrorKind, RedisError, ServerErrorKind};

/// Why a store gave no decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreFailure {
    /// No answer within the time for one decision: `timeout`.
    Timeout,
    /// There is no connection, or it broke: `connection`.
    Connection,
    /// The server wants another user or password, or does not let this one do it: `auth`.
    Auth,
    /// The server is a replica, which takes no writes: `read_only`.
    ReadOnly,
    /// The server still reads its data from disk: `loading`.
    Loading,
    /// The key is on another node of a cluster, or the cluster is down: `moved`.
    Moved,
    /// The key's slot is on its way from one node of a cluster to another: `migrating`.
    Migrating,
    /// There is something else under the key: `wrong_type`.
    WrongType,
    /// The answer is none that was asked for: `garbage`.
    Garbage,
    /// More decisions wait than the store takes: `overload`.
    Overload,
    /// The server refused the script for another reason, such as a lack of memory: `refused`.
    Refused,
    /// The store was not asked, because it failed too often just now: `guard`.
    Guard,
}

impl StoreFailure {
    /// All there are.
    pub const ALL: [Self; 12] = [
        Self::Timeout,
        Self::Connection,
        Self::Auth,
        Self::ReadOnly,
        Self::Loading,
        Self::Moved,
        Self::Migrating,
        Self::WrongType,
        Self::Garbage,
        Self::Overload,
        Self::Refused,
        Self::Guard,
    ];

    /// The failure as a label of metrics has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Auth => "auth",
            Self::ReadOnly => "read_only",
            Self::Loading => "loading",
            Self::Moved => "moved",
            Self::Migrating => "migrating",
            Self::WrongType => "wrong_type",
            Self::Garbage => "garbage",
            Self::Overload => "overload",
            Self::Refused => "refused",
            Self::Guard => "guard",
        }
    }

    /// Whether it tells of the server. What is wrong with one key is no reason to leave it alone, nor that a
    /// slot moves.
    pub(super) fn blames_server(self) -> bool {
        !matches!(self, Self::WrongType | Self::Migrating | Self::Overload | Self::Guard)
    }

    /// Whether another connection may lead to a better server, or is needed to understand this one.
    pub(super) fn breaks_connection(self) -> bool {
        matches!(self, Self::Connection | Self::Auth | Self::ReadOnly | Self::Garbage)
    }

    pub(super) fn of(error: &RedisError) -> Self {
        match error.kind() {
            ErrorKind::Io | ErrorKind::ClusterConnectionNotFound if error.is_timeout() => {
                Self::Timeout
            }
            ErrorKind::Io | ErrorKind::ClusterConnectionNotFound => Self::Connection,
            ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm) => {
                Self::Auth
            }
            ErrorKind::Server(ServerErrorKind::ReadOnly) => Self::ReadOnly,
            ErrorKind::Server(ServerErrorKind::BusyLoading) => Self::Loading,
            ErrorKind::Server(
                ServerErrorKind::Moved
                | ServerErrorKind::TryAgain
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown,
            ) => Self::Moved,
            ErrorKind::Server(ServerErrorKind::Ask) => Self::Migrating,
            ErrorKind::Parse | ErrorKind::UnexpectedReturnType => Self::Garbage,
            _ => Self::of_text(error),
        }
    }

    /// What older servers tell within the text of an error of the script.
    fn of_text(error: &RedisError) -> Self {
        let text = error.to_string();
        let says = |code| text.contains(code);
        if says("WRONGTYPE") {
            Self::WrongType
        } else if says("READONLY") {
            Self::ReadOnly
        } else if NOT_ALLOWED.into_iter().any(says) {
            Self::Auth
        } else {
            Self::Refused
        }
    }
}

/// How servers say that a user may not do what it asks for, or what its script does: the latter without
/// a code, from 6 to 7.0 and from 7.2 on.
const NOT_ALLOWED: [&str; 5] = [
    "NOAUTH",
    "WRONGPASS",
    "NOPERM",
    "The user executing the script can't",
    "ACL failure in script",
];

impl fmt::Display for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "the store did not answer in time",
            Self::Connection => "there is no connection to the store",
            Self::Auth => "the store does not let this user in",
            Self::ReadOnly => "the store is a replica, which takes no writes",
            Self::Loading => "the store still reads its data",
            Self::Moved => "the key is on another node of the cluster",
            Self::Migrating => "the key is on its way to another node of the cluster",
            Self::WrongType => "there is something else under the key",
            Self::Garbage => "the store's answer makes no sense",
            Self::Overload => "too many decisions wait for the store",
            Self::Refused => "the store refused the script",
            Self::Guard => "the store failed too often and is left alone for a moment",
        })
    }
}

impl std::error::Error for StoreFailure {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error that the client makes of a server's line.
    fn error(line: &str) -> RedisError {
        redis::parse_redis_value(line.as_bytes())
            .and_then(redis::Value::extract_error)
            .expect_err("an error's line")
    }

    #[test]
    fn every_line_of_a_server_has_a_meaning() {
        for (line, meaning) in [
            ("-READONLY You can't write against a read only replica.\r\n", StoreFailure::ReadOnly),
            ("-LOADING Redis is loading the dataset in memory\r\n", StoreFailure::Loading),
            ("-MOVED 3999 127.0.0.1:6381\r\n", StoreFailure::Moved),
            ("-ASK 3999 127.0.0.1:6381\r\n", StoreFailure::Migrating),
            ("-CLUSTERDOWN The cluster is down\r\n", StoreFailure::Moved),
            ("-WRONGTYPE Operation against a key\r\n", StoreFailure::WrongType),
            (
                "-ERR Error running script: @user_script:9: WRONGTYPE Operation\r\n",
                StoreFailure::WrongType,
            ),
            ("-NOAUTH Authentication required.\r\n", StoreFailure::Auth),
            ("-WRONGPASS invalid username-password pair\r\n", StoreFailure::Auth),
            ("-NOPERM this user has no permissions\r\n", StoreFailure::Auth),
            (
                "-ERR The user executing the script can't run this command or subcommand\r\n",
                StoreFailure::Auth,
            ),
            (
                "-ERR ACL failure in script: User shop has no permissions to run 'time'\r\n",
                StoreFailure::Auth,
            ),
            ("-OOM command not allowed when used memory > 'maxmemory'.\r\n", StoreFailure::Refused),
            ("-MISCONF Redis is configured to save RDB snapshots\r\n", StoreFailure::Refused),
            ("-CROSSSLOT Keys in request don't hash to the same slot\r\n", StoreFailure::Refused),
        ] {
            assert_eq!(StoreFailure::of(&error(line)), meaning, "{line}");
        }
    }

    #[test]
    fn what_is_wrong_with_one_key_does_not_blame_the_server() {
        assert!(!StoreFailure::WrongType.blames_server());
        assert!(StoreFailure::Refused.blames_server());
    }

    #[test]
    fn a_demoted_server_is_left_for_another_connection() {
        assert!(StoreFailure::ReadOnly.breaks_connection());
        assert!(!StoreFailure::Loading.breaks_connection());
    }

    #[test]
    fn labels_are_all_different() {
        let labels: std::collections::HashSet<_> =
            StoreFailure::ALL.iter().map(|failure| failure.as_str()).collect();
        assert_eq!(labels.len(), StoreFailure::ALL.len());
    }
}
