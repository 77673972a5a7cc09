use std::{
    borrow::Cow,
    io::{self, ErrorKind as Io},
};

use super::{ErrorKind, table::table};
use crate::{Error, chain::first_refusal};

table! {
    /// Every error is `io`; before that come the kind of the standard library and what it amounts to.
    fn kinds(kind: Io) {
        Io::TimedOut => ["timeout", "io"],
        Io::ConnectionRefused => ["connect", "connection_refused", "io"],
        Io::HostUnreachable => ["connect", "host_unreachable", "io"],
        Io::NetworkUnreachable => ["connect", "network_unreachable", "io"],
        Io::NetworkDown => ["connect", "network_down", "io"],
        Io::AddrNotAvailable => ["connect", "addr_not_available", "io"],
        Io::ConnectionReset => ["connection_reset", "io"],
        Io::ConnectionAborted => ["connection_aborted", "io"],
        Io::NotConnected => ["not_connected", "io"],
        Io::BrokenPipe => ["broken_pipe", "io"],
        Io::UnexpectedEof => ["unexpected_eof", "io"],
        Io::WriteZero => ["write_zero", "io"],
        Io::AddrInUse => ["addr_in_use", "io"],
        Io::NotFound => ["not_found", "io"],
        Io::AlreadyExists => ["already_exists", "io"],
        Io::PermissionDenied => ["permission_denied", "io"],
        Io::WouldBlock => ["would_block", "io"],
        Io::Interrupted => ["interrupted", "io"],
        Io::ResourceBusy => ["resource_busy", "io"],
        Io::StorageFull => ["storage_full", "io"],
        Io::QuotaExceeded => ["quota_exceeded", "io"],
        Io::ReadOnlyFilesystem => ["read_only_filesystem", "io"],
        Io::OutOfMemory => ["out_of_memory", "io"],
        Io::InvalidInput => ["invalid_input", "io"],
        Io::InvalidData => ["invalid_data", "io"],
        Io::Unsupported => ["unsupported", "io"],
        _ => ["io"],
    }
}

impl ErrorKind for io::Error {
    fn kinds(&self) -> &'static [&'static str] {
        kinds(self.kind())
    }

    fn refusal(&self) -> Option<Cow<'_, Error>> {
        let custom: &(dyn std::error::Error + 'static) = self.get_ref()?;
        first_refusal(Some(custom))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_error_is_of_its_own_kind_and_of_io() {
        for (kind, expected) in [
            (Io::TimedOut, &["timeout", "io"][..]),
            (Io::ConnectionRefused, &["connect", "connection_refused", "io"]),
            (Io::ConnectionReset, &["connection_reset", "io"]),
            (Io::BrokenPipe, &["broken_pipe", "io"]),
            (Io::Other, &["io"]),
        ] {
            assert_eq!(io::Error::from(kind).kinds(), expected);
        }
    }
}
