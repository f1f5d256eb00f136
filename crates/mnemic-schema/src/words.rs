//! What the word index knows: how a word is written in it, which memories hold it and how often, how long they are. It
//! weighs nothing; what all this says of a memory is the ranker's to tell.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::filter::{Filter, Scope};
use crate::indexed::Indexed;
use crate::read::Snapshot;
use crate::text::QueryWord;

/// How the word index cuts and stems: the same in its definition (see migrations/0001_memories.sql).
pub(crate) const TOKENIZE: &str = "porter unicode61 remove_diacritics 2 categories ''L* N* Co M*''";

/// Writes words as the word index writes them (stemmed, without diacritics), by FTS5's own tokenizer in a small index in
/// memory. It touches no file.
#[derive(Debug)]
pub struct Tokenizer {
    connection: Connection,
}

/// A word as the word index writes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Token {
    word: String,
    text: String,
    /// Whether every word that begins so is meant.
    prefix: bool,
}

impl Token {
    /// The word that was asked for.
    #[must_use]
    pub fn word(&self) -> &str {
        &self.word
    }

    /// What the word index has for the word.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Tokenizer {
    /// A tokenizer of its own.
    ///
    /// # Errors
    /// [`SchemaError::Sqlite`] where SQLite fails (out of memory, say).
    pub fn new() -> Result<Self, SchemaError> {
        let doing = "making a tokenizer";
        let connection = Connection::open_in_memory().doing(doing)?;
        connection
            .execute_batch(&format!(
                "CREATE VIRTUAL TABLE words USING fts5 (word, content = '', tokenize = '{TOKENIZE}');
                 CREATE VIRTUAL TABLE tokens USING fts5vocab (words, instance);"
            ))
            .doing(doing)?;
        Ok(Self { connection })
    }

    /// The tokens of words, in their order, each once. A word that the index does not know as one (a letter that is newer
    /// than its Unicode tables) has none, or several.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn tokens(&mut self, words: &[QueryWord]) -> Result<Vec<Token>, SchemaError> {
        let doing = "tokenizing a question";
        // Dropped without a commit: nothing stays.
        let transaction = self.connection.transaction().doing(doing)?;
        {
            let mut insert = transaction
                .prepare_cached("INSERT INTO words (rowid, word) VALUES (?1, ?2)")
                .doing(doing)?;
            for (row, word) in (0i64..).zip(words) {
                insert.execute((row, word.text())).doing(doing)?;
            }
        }
        let mut found: Vec<(i64, i64, String)> = transaction
            .prepare_cached("SELECT doc, offset, term FROM tokens")
            .and_then(|mut statement| {
                let rows =
                    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
                rows?.collect()
            })
            .doing(doing)?;
        found.sort_unstable();
        let mut tokens: Vec<Token> = Vec::with_capacity(found.len());
        for (row, _, text) in found {
            let Some(word) = usize::try_from(row).ok().and_then(|row| words.get(row)) else {
                continue;
            };
            let prefix = word.is_prefix();
            let known = |token: &Token| token.text == text && token.prefix == prefix;
            if !tokens.iter().any(known) {
                tokens.push(Token {
                    word: word.text().to_owned(),
                    text,
                    prefix,
                });
            }
        }
        Ok(tokens)
    }
}

impl Snapshot<'_> {
    /// Visits every memory that holds a token and passes the filter, by ascending key, with how often it holds it (in
    /// content, tags and project together; at least 1).
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn occurrences(
        &self,
        token: &Token,
        filter: &Filter,
        visit: impl FnMut(i64, u32),
    ) -> Result<(), SchemaError> {
        self.occurrences_in(Indexed::Memories, token, filter, visit)
    }

    /// As [`Snapshot::occurrences`], of memories or of passages (in their text) whose memory passes the filter.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn occurrences_in(
        &self,
        indexed: Indexed,
        token: &Token,
        filter: &Filter,
        mut visit: impl FnMut(i64, u32),
    ) -> Result<(), SchemaError> {
        let doing = "searching by a word";
        let (conditions, filter_values) = filter.clause_in(indexed);
        let mut values = vec![Value::Text(token.text.clone())];
        let terms = if token.prefix {
            values.push(Value::Text(format!("{}{}", token.text, char::MAX)));
            "w.term >= ? AND w.term <= ?"
        } else {
            "w.term = ?"
        };
        let sql = if conditions.is_empty() {
            format!("SELECT w.doc FROM temp.{{terms}} w WHERE {terms}")
        } else {
            // CROSS JOIN fixes the order: the word index first, then each row by its key.
            format!(
                "SELECT w.doc FROM temp.{{terms}} w CROSS JOIN {} WHERE {{id}} = w.doc AND {terms}{conditions}",
                match indexed {
                    Indexed::Memories => "memories m",
                    Indexed::Passages => "chunks c CROSS JOIN memories m ON m.seq = c.seq",
                }
            )
        };
        let sql = indexed.filled(&sql);
        values.extend(filter_values);
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let mut rows = statement.query(params_from_iter(values)).doing(doing)?;
        let mut seqs: Vec<i64> = Vec::new();
        while let Some(row) = rows.next().doing(doing)? {
            seqs.push(row.get(0).doing(doing)?);
        }
        // Those of one term come in order; a beginning has several terms.
        if !seqs.is_sorted() {
            seqs.sort_unstable();
        }
        for run in seqs.chunk_by(|a, b| a == b) {
            if let Some(seq) = run.first() {
                visit(*seq, u32::try_from(run.len()).unwrap_or(u32::MAX));
            }
        }
        Ok(())
    }

    /// How many tokens each of some memories has, in content, tags and project together; 0 for one that is not indexed.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn lengths(&self, seqs: &[i64]) -> Result<Vec<u32>, SchemaError> {
        self.lengths_in(Indexed::Memories, seqs)
    }

    /// As [`Snapshot::lengths`], of memories or of passages.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn lengths_in(&self, indexed: Indexed, seqs: &[i64]) -> Result<Vec<u32>, SchemaError> {
        let doing = "reading the lengths of memories";
        let mut statement = self
            .connection()
            .prepare_cached(&indexed.filled("SELECT sz FROM {words}_docsize WHERE id = ?1"))
            .doing(doing)?;
        seqs.iter()
            .map(|seq| {
                let size: Option<Vec<u8>> = statement
                    .query_row([seq], |row| row.get(0))
                    .optional()
                    .doing(doing)?;
                Ok(size.map_or(0, |size| length(&size)))
            })
            .collect()
    }

    /// How many memories a scope has, and how many tokens they have together.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn scope_lengths(&self, scope: &Scope) -> Result<(u64, u64), SchemaError> {
        self.scope_lengths_in(Indexed::Memories, scope)
    }

    /// As [`Snapshot::scope_lengths`], of memories or of passages.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn scope_lengths_in(
        &self,
        indexed: Indexed,
        scope: &Scope,
    ) -> Result<(u64, u64), SchemaError> {
        let doing = "reading the lengths of memories";
        let (conditions, values) = Filter::from(scope.clone()).clause();
        let sql = indexed.filled(&format!(
            "SELECT d.sz FROM {{from}} LEFT JOIN {{words}}_docsize d ON d.id = {{id}} WHERE TRUE{conditions}"
        ));
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let mut rows = statement.query(params_from_iter(values)).doing(doing)?;
        let (mut memories, mut tokens) = (0u64, 0u64);
        while let Some(row) = rows.next().doing(doing)? {
            memories += 1;
            tokens = tokens.saturating_add(u64::from(row_length(row, 0).doing(doing)?));
        }
        Ok((memories, tokens))
    }
}

/// The tokens of a memory from a column that holds what FTS5 keeps of it.
pub(crate) fn row_length(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u32> {
    let size = row.get_ref(column)?;
    Ok(size.as_blob_or_null()?.map_or(0, length))
}

/// The sum of what FTS5 writes in its table of document sizes: a variable-length integer for each column, seven bits a
/// byte, the most significant first, the last byte of each below 128 (SQLite, FTS5 documentation, section 9.5).
fn length(sizes: &[u8]) -> u32 {
    let (mut sum, mut number) = (0u32, 0u32);
    for byte in sizes {
        number = (number << 7) | u32::from(byte & 127);
        if byte & 128 == 0 {
            sum = sum.saturating_add(number);
            number = 0;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewRow, OpenOptions, Store, Timestamp, query_words};
    use proptest::prelude::*;

    #[test]
    fn the_tokenizer_is_that_of_the_file() {
        let migration = include_str!("../migrations/0001_memories.sql");
        let of_file = format!("tokenize = \"{}\"", TOKENIZE.replace("''", "'"));
        assert!(migration.contains(&of_file), "{of_file}");
    }

    #[test]
    fn lengths_are_the_sums_of_the_columns() {
        assert_eq!(length(&[]), 0);
        assert_eq!(length(&[3, 0, 1]), 4);
        assert_eq!(length(&[0x81, 0x00, 2]), 130);
        assert_eq!(length(&[0xff; 20]), 0, "damaged: no end");
    }

    #[test]
    fn words_are_written_as_the_index_writes_them() {
        let mut tokenizer = Tokenizer::new().unwrap();
        let mut tokens = |text: &str| -> Vec<String> {
            let tokens = tokenizer.tokens(&query_words(text)).unwrap();
            tokens.into_iter().map(|token| token.text).collect()
        };
        assert_eq!(
            tokens("deploying deploys CAFÉ fridays"),
            ["deploi", "cafe", "fridai"]
        );
        assert_eq!(tokens("東京塔"), ["東京", "京塔"]);
        assert_eq!(tokens("x"), ["x"]);
        assert!(tokens("?!").is_empty());
    }

    fn text() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec![
            "run", "running", "gate", "東京", "東塔", "a", "b-c", "naïve", "x1",
        ]);
        prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
    }

    proptest! {
        /// What is read term by term makes the very bm25 that FTS5 computes.
        #[test]
        fn counts_and_lengths_make_the_bm25_of_fts5(texts in prop::collection::vec(text(), 1..20), asked in text()) {
            let mut store = Store::open_in_memory(OpenOptions::default()).unwrap();
            store.write(|write| {
                for content in &texts {
                    let row = NewRow { id: None, content: content.clone(), project: None, tags: vec!["run".into()], created_at: Timestamp::MIN, entities: Vec::new() };
                    write.insert(&row, None)?;
                }
                Ok::<_, SchemaError>(())
            }).unwrap();
            let mut tokenizer = Tokenizer::new().unwrap();
            store.read(|snapshot| {
                for word in query_words(&asked) {
                    let of_fts5: Vec<(i64, f64)> = snapshot.connection()
                        .prepare("SELECT rowid, -bm25(memories_fts) FROM memories_fts WHERE memories_fts MATCH ?1 ORDER BY rowid")
                        .unwrap().query_map([word.match_expression()], |row| Ok((row.get(0)?, row.get(1)?)))
                        .unwrap().collect::<Result<_, _>>().unwrap();
                    let tokens = tokenizer.tokens(&[word])?;
                    prop_assert_eq!(tokens.len(), 1);
                    let (memories, all) = snapshot.scope_lengths(&Scope::All)?;
                    let mut found = Vec::new();
                    snapshot.occurrences(&tokens[0], &Filter::default(), |seq, count| found.push((seq, f64::from(count))))?;
                    let seqs: Vec<i64> = found.iter().map(|(seq, _)| *seq).collect();
                    let lengths = snapshot.lengths(&seqs)?;
                    let (n, hits) = (memories as f64, found.len() as f64);
                    let idf = ((n - hits + 0.5) / (hits + 0.5)).ln();
                    let idf = if idf > 0.0 { idf } else { 1e-6 };
                    let ours: Vec<(i64, f64)> = found.iter().zip(&lengths).map(|((seq, count), length)| {
                        let share = f64::from(*length) / (all as f64 / n);
                        (*seq, idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * share)))
                    }).collect();
                    prop_assert_eq!(of_fts5.len(), ours.len());
                    for (a, b) in of_fts5.iter().zip(&ours) {
                        prop_assert!(a.0 == b.0 && (a.1 - b.1).abs() <= 1e-12 * a.1, "{:?} {:?}", of_fts5, ours);
                    }
                }
                Ok(())
            })?;
        }
    }
}
