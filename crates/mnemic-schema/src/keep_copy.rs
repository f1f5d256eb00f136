//! A copy of a file of another system, put beside it before the file is changed. It never changes either file once it is
//! there.

use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};
use tempfile::NamedTempFile;

use crate::error::{Doing, SchemaError};
use crate::open::{OpenOptions, beside, connect};

/// Copies the file as it is, page by page (SQLite's backup: what its log holds is in it), to a name of its own beside it.
/// A copy that an adoption left which did not come to its end is used again, if it is the same.
pub(crate) fn keep_copy(path: &Path, options: OpenOptions) -> Result<PathBuf, SchemaError> {
    let io = |source| SchemaError::Io {
        doing: "keeping a copy of",
        path: path.to_owned(),
        source,
    };
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    let mut copy = NamedTempFile::with_prefix_in(".adopt-", &folder).map_err(io)?;
    copy_pages(path, copy.path(), options)?;
    copy.as_file().sync_all().map_err(io)?;
    for number in 1.. {
        let suffix = match number {
            1 => ".rekal-copy".to_owned(),
            _ => format!(".rekal-copy-{number}"),
        };
        let target = beside(path, &suffix);
        if target.symlink_metadata().is_ok() {
            if same_bytes(&target, copy.path()).map_err(io)? {
                return Ok(target);
            }
            continue;
        }
        match copy.persist_noclobber(&target) {
            Ok(_) => {
                #[cfg(unix)]
                std::fs::File::open(&folder)
                    .and_then(|folder| folder.sync_all())
                    .map_err(io)?;
                return Ok(target);
            }
            // Another process took the name.
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
                copy = error.file;
            }
            Err(error) => return Err(io(error.error)),
        }
    }
    Err(io(std::io::Error::other("no name is left for it")))
}

/// By a connection of its own: the one that holds the lock cannot be copied from.
fn copy_pages(from: &Path, to: &Path, options: OpenOptions) -> Result<(), SchemaError> {
    let doing = "keeping a copy of the file";
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = connect(from, flags, options)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags).doing(doing)?;
    Backup::new(&source, &mut target)
        .and_then(|backup| backup.run_to_completion(1 << 10, std::time::Duration::ZERO, None))
        .doing(doing)?;
    target.close().map_err(|(_, error)| error).doing(doing)
}

fn same_bytes(a: &Path, b: &Path) -> std::io::Result<bool> {
    let open = |path: &Path| std::fs::File::open(path).map(std::io::BufReader::new);
    let (a, b) = (open(a)?, open(b)?);
    if a.get_ref().metadata()?.len() != b.get_ref().metadata()?.len() {
        return Ok(false);
    }
    for (x, y) in a.bytes().zip(b.bytes()) {
        if x? != y? {
            return Ok(false);
        }
    }
    Ok(true)
}
