//! What the word index's own form of a text (`mnemic_text`: Unicode forms, case, scripts without spaces) costs English,
//! which has no need of it: the limit is 10 % of time and size.
//!
//! `cargo run --release -p mnemic-benches --bin english -- [MEMORIES]` (20000 unless said otherwise) makes two databases
//! in memory by mnemic's own schema, one as it is, one with the text itself in place of each call of a function, stores the
//! same made-up memories in both, turn by turn, and prints the ratio of each turn's processor times (the median of all) and
//! that of the sizes.

use std::borrow::Cow;
use std::error::Error;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, params};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The tables, the word index and its triggers.
const SCHEMA: &str = include_str!("../../crates/mnemic-schema/migrations/0001_memories.sql");

/// How often each is made: the first time warms up and is not counted.
const TURNS: usize = 10;

/// Words of English memories, common ones often.
const WORDS: &str = "\
    the the the the the a a a to to to of of of and and in in is is it for on with that as at by be are was we I \
    they he she not or from this have has will user prefers project deploy deploys release Friday Monday \
    database index query table schema server client request response error retry timeout token cache memory file \
    path branch commit review test tests build failed passed fixed breaks works uses likes wants asked decided \
    agreed moved renamed removed added changed updated configuration environment variable production staging \
    meeting customer invoice payment deadline design document version Python Rust SQLite Postgres Docker Linux \
    Anna Martin Berlin London coffee holiday birthday conference kitchen garden bicycle morning evening \
    yesterday tomorrow weekly quarterly because although before after during between without already never \
    always sometimes important different possible available necessary understanding implementation \
    responsibility 2023 2024 8080";

/// What people type that is not ASCII, in English: a text has about two of them.
const TYPED: [&str; 6] = [
    "don’t",
    "it’s",
    "“ready”",
    "— as agreed —",
    "café",
    "… and so on",
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Schema {
    /// As mnemic has it.
    Mnemic,
    /// With the text itself in place of the functions.
    Plain,
}

impl Schema {
    fn statements(self) -> Cow<'static, str> {
        match self {
            Self::Mnemic => SCHEMA.into(),
            // A name of a function before a parenthesis: what is left is an expression in parentheses.
            Self::Plain => ["mnemic_text", "mnemic_tag_text", "mnemic_fold"]
                .iter()
                .fold(SCHEMA.to_owned(), |sql, name| {
                    sql.replace(&format!("{name}("), "(")
                })
                .into(),
        }
    }

    /// A new database with the settings of mnemic's connections, in memory: the disk is not what is measured.
    fn create(self) -> Outcome<Connection> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(
            "PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;
             PRAGMA recursive_triggers = ON; PRAGMA trusted_schema = ON;",
        )?;
        if self == Self::Mnemic {
            register(&connection)?;
        }
        connection.execute_batch(&self.statements())?;
        Ok(connection)
    }
}

/// The functions of mnemic's connections, as `mnemic-schema` registers them.
fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    let function = |name: &str, of: fn(&str) -> String| {
        connection.create_scalar_function(name, 1, flags, move |context| {
            let text = context.get_raw(0).as_str_or_null()?;
            Ok(text.map(of))
        })
    };
    function("mnemic_text", |text| {
        mnemic_schema::index_text(text).into_owned()
    })?;
    function("mnemic_tag_text", |json| {
        let tags: Vec<String> = serde_json::from_str(json).unwrap_or_default();
        mnemic_schema::index_text(&tags.join("\n")).into_owned()
    })?;
    function("mnemic_fold", mnemic_schema::fold)
}

/// Texts of ten to forty words, the same in every run.
fn texts(count: usize, typed: bool) -> Vec<String> {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut state = 1u64;
    let mut pick = move |below: usize| {
        // Knuth's linear congruential generator; its high bits are well mixed.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    (0..count)
        .map(|_| {
            let length = 10 + pick(31);
            let mut text: Vec<&str> = (0..length).map(|_| words[pick(words.len())]).collect();
            if typed {
                text.extend([TYPED[pick(TYPED.len())], TYPED[pick(TYPED.len())]]);
            }
            text.join(" ") + "."
        })
        .collect()
}

/// The processor time of this thread, which other load on the machine does not change; where the system does not tell it
/// (it is Linux's), the time since the first call.
fn spent() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// What one database took.
#[derive(Debug, Clone, Copy)]
struct Made {
    /// To store all memories, in one transaction.
    storing: Duration,
    /// To make the word index anew from them.
    rebuilding: Duration,
    bytes: i64,
    index_bytes: i64,
}

fn make(schema: Schema, texts: &[String]) -> Outcome<(Connection, Made)> {
    let mut connection = schema.create()?;
    let start = spent();
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction
            .prepare("INSERT INTO memories (id, content, project, tags) VALUES (?1, ?2, ?3, ?4)")?;
        for (i, text) in texts.iter().enumerate() {
            let project = (i % 2 == 1).then(|| format!("project {}", i % 50));
            let tags = i.is_multiple_of(10).then_some(r#"["decision", "ops"]"#);
            insert.execute(params![format!("{i:08}"), text, project, tags])?;
        }
    }
    transaction.commit()?;
    let storing = spent().saturating_sub(start);
    let index_bytes = connection.query_row(
        "SELECT sum(length(block)) FROM memories_fts_data",
        [],
        |row| row.get(0),
    )?;
    let bytes = connection.query_row(
        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
        [],
        |row| row.get(0),
    )?;
    let start = spent();
    connection.execute(
        "INSERT INTO memories_fts (memories_fts) VALUES ('rebuild')",
        [],
    )?;
    let made = Made {
        storing,
        rebuilding: spent().saturating_sub(start),
        bytes,
        index_bytes,
    };
    Ok((connection, made))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn compare(what: &str, texts: &[String]) -> Outcome<()> {
    let mut turns = Vec::new();
    for turn in 0..=TURNS {
        // Who is first changes from turn to turn: neither always finds the other's warm caches.
        let mut order = [Schema::Mnemic, Schema::Plain];
        if turn % 2 == 1 {
            order.reverse();
        }
        let mut made = Vec::new();
        for schema in order {
            made.push((schema, make(schema, texts)?.1));
        }
        made.sort_by_key(|(schema, _)| *schema == Schema::Plain);
        if turn > 0 {
            turns.push((made[0].1, made[1].1));
        }
    }
    type Of = fn(&Made) -> f64;
    let rows: [(&str, Of, &str); 4] = [
        ("storing", |made| made.storing.as_secs_f64() * 1e3, "ms"),
        (
            "building the word index anew",
            |made| made.rebuilding.as_secs_f64() * 1e3,
            "ms",
        ),
        (
            "size of the word index",
            |made| made.index_bytes as f64 / 1024.0,
            "KiB",
        ),
        ("size of the file", |made| made.bytes as f64 / 1024.0, "KiB"),
    ];
    for (name, of, unit) in rows {
        let mnemic = median(turns.iter().map(|turn| of(&turn.0)));
        let plain = median(turns.iter().map(|turn| of(&turn.1)));
        let ratio = median(turns.iter().map(|turn| of(&turn.0) / of(&turn.1)));
        println!("| {what} | {name} | {mnemic:.0} {unit} | {plain:.0} {unit} | {ratio:.3} |");
    }
    Ok(())
}

fn main() -> Outcome<()> {
    let mut count = 20_000;
    let mut arguments = lexopt::Parser::from_env();
    use lexopt::ValueExt;
    while let Some(argument) = arguments.next()? {
        match argument {
            lexopt::Arg::Value(value) => count = value.string()?.parse()?,
            other => return Err(other.unexpected().into()),
        }
    }
    if count == 0 {
        return Err("no memories, nothing to measure: give a number above 0".into());
    }
    println!(
        "{count} memories; times are medians of processor time, ratios the medians of {TURNS} pairs made in turn\n"
    );
    println!("| text | what | index text | the text itself | ratio |\n|---|---|---|---|---|");
    compare("English in ASCII", &texts(count, false))?;
    compare("English with typographic marks", &texts(count, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemas_find_the_same_and_only_one_calls_functions() {
        assert!(SCHEMA.contains("mnemic_text(") && !Schema::Plain.statements().contains("mnemic_"));
        for schema in [Schema::Mnemic, Schema::Plain] {
            let texts = ["deploys freeze on Fridays", "it’s ＴＥＡ"].map(str::to_owned);
            let (connection, _) = make(schema, &texts).unwrap();
            let found = |word: &str| -> i64 {
                let sql = "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?1";
                connection.query_row(sql, [word], |row| row.get(0)).unwrap()
            };
            assert_eq!((found("friday"), found("decision"), found("50")), (1, 1, 0));
            // Full-width letters are found in their usual form by the index text alone.
            assert_eq!(found("tea"), i64::from(schema == Schema::Mnemic));
        }
    }

    #[test]
    fn texts_are_ascii_unless_typed() {
        assert!(texts(50, false).iter().all(|text| text.is_ascii()));
        assert!(texts(50, true).iter().all(|text| !text.is_ascii()));
        assert_eq!(texts(5, true), texts(5, true));
    }
}
