//! Registers sqlite-vec and the SQL functions of the schema on one connection. It never touches other connections.
//!
//! This is the only module of the workspace with `unsafe` code.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::ptr;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ffi};

// Links the C library that defines the symbol below.
use sqlite_vec as _;

use crate::tags;
use crate::text;

unsafe extern "C" {
    /// The entry point of sqlite-vec 0.1.9 (`sqlite-vec.c`), in the form that SQLite documents for extensions. The
    /// sqlite-vec crate declares it without its arguments, hence this declaration.
    fn sqlite3_vec_init(
        db: *mut ffi::sqlite3,
        error: *mut *mut c_char,
        api: *const ffi::sqlite3_api_routines,
    ) -> c_int;
}

/// Makes `vec0`, `vec_distance_cosine`, `mnemic_text`, `mnemic_tag_text`, `mnemic_fold` and `mnemic_contains` known to a connection.
pub(crate) fn register(connection: &Connection) -> rusqlite::Result<()> {
    register_sqlite_vec(connection)?;
    // Innocuous: pure functions of their argument, so that triggers and views may use them.
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("mnemic_text", 1, flags, |context| {
        on_text(context, |text| text::index_text(text).into_owned())
    })?;
    connection.create_scalar_function("mnemic_tag_text", 1, flags, |context| {
        on_text(context, |json| {
            text::index_text(&tags::lenient_from_json(json).join("\n")).into_owned()
        })
    })?;
    connection.create_scalar_function("mnemic_contains", 2, flags, |context| {
        let of = |place| match context.get_raw(place) {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
            _ => "".into(),
        };
        Ok(crate::phrase::contains(&of(0), &of(1)))
    })?;
    connection.create_scalar_function("mnemic_fold", 1, flags, |context| {
        on_text(context, text::fold)
    })
}

/// NULL gives NULL; invalid UTF-8 (a damaged file) is read with replacement characters rather than failing a write.
fn on_text(
    context: &Context<'_>,
    function: impl Fn(&str) -> String,
) -> rusqlite::Result<Option<String>> {
    Ok(match context.get_raw(0) {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(function(&String::from_utf8_lossy(bytes)))
        }
        ValueRef::Integer(number) => Some(function(&number.to_string())),
        ValueRef::Real(number) => Some(function(&number.to_string())),
        ValueRef::Null => None,
    })
}

fn register_sqlite_vec(connection: &Connection) -> rusqlite::Result<()> {
    let mut error: *mut c_char = ptr::null_mut();
    // SAFETY: `handle()` is the live `sqlite3*` of `connection`, which outlives this call and is used by this thread
    // alone (`Connection` is not `Sync`). The signature above is that of the C function. sqlite-vec is compiled with
    // SQLITE_CORE against the SQLite that rusqlite bundles, so it does not read the null `api` table. It registers
    // functions and modules on this handle only and keeps no pointer to `error`. A message it may leave there was
    // made by sqlite3_malloc and is freed below, after which it is not used.
    let code = unsafe {
        let code = sqlite3_vec_init(connection.handle(), &raw mut error, ptr::null());
        if !error.is_null() {
            ffi::sqlite3_free(error.cast());
        }
        code
    };
    if code == ffi::SQLITE_OK {
        Ok(())
    } else {
        Err(rusqlite::Error::SqliteFailure(
            ffi::Error::new(code),
            Some("sqlite-vec could not be registered".to_owned()),
        ))
    }
}
