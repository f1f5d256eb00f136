//! Reading a file as it lies, without locks and without a trace. It never reads a file that another process has open.
//!
//! SQLite must make a shared-memory file beside a database in WAL mode even to read it, unless told that the file does
//! not change (`immutable`). A file without a write-ahead log beside it is opened by nobody, so it may be read so; and
//! a reader that compares the file's stamp before and after each read notices a writer that came meanwhile, drops what
//! it read, and reads again with locks.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::open::beside;

/// A file that nobody had open, and what it looked like then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frozen {
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
    identity: Option<FileIdentity>,
}

/// Which file lies at a path: another one put in its place is another file, whatever its length and times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// `None` where there is no file, or the system gives files no numbers.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let metadata = std::fs::metadata(path).ok()?;
            Some(Self {
                device: metadata.dev(),
                inode: metadata.ino(),
            })
        }
        #[cfg(not(unix))]
        {
            let _ = path;
            None
        }
    }

    pub(crate) fn number(self) -> u64 {
        self.device.rotate_left(32) ^ self.inode
    }
}

impl Frozen {
    /// The file, if no write-ahead log or rollback journal lies beside it.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let open_elsewhere = ["-wal", "-journal"]
            .iter()
            .any(|suffix| beside(path, suffix).exists());
        let metadata = std::fs::metadata(path).ok()?;
        (!open_elsewhere).then(|| Self {
            path: path.to_owned(),
            length: metadata.len(),
            modified: metadata.modified().ok(),
            identity: FileIdentity::of(path),
        })
    }

    /// Whether the file still lies as it lay.
    pub(crate) fn is_current(&self) -> bool {
        Self::of(&self.path).as_ref() == Some(self)
    }

    /// The path as a SQLite URI with every byte but the plainest escaped.
    pub(crate) fn uri(&self) -> String {
        let mut uri = String::from("file:");
        if cfg!(windows) {
            uri.push('/');
        }
        for &byte in self.path.as_os_str().as_encoded_bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                    uri.push(char::from(byte));
                }
                b'\\' | b':' if cfg!(windows) => {
                    uri.push(if byte == b'\\' { '/' } else { ':' });
                }
                _ => uri.push_str(&format!("%{byte:02X}")),
            }
        }
        uri.push_str("?immutable=1");
        uri
    }
}
