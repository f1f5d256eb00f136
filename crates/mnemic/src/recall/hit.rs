//! What recall answers with: memories, their scores, and what the scores were made of.

use std::borrow::Cow;
use std::fmt;

use crate::document::types::Passage;
use crate::graph::relation::Link;
use crate::types::StoredMemory;

/// A memory that was recalled.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The memory.
    pub memory: StoredMemory,
    /// How well it fits, newness included; higher is better. Its range is the preset's, or [0, 1] where a reranker read
    /// it.
    pub score: f64,
    /// How well it fits, newness left out.
    pub relevance: f64,
    /// What the score was made of.
    pub signals: Signals,
    /// The best passages of a document, best first ([`crate::Recall::passages`] says how many); empty for any other memory.
    pub passages: Vec<PassageHit>,
}

impl Hit {
    /// What to read of it: the text of a memory; of a document its title and its best passages, in the order of the
    /// source, an ellipsis where something between them is left out.
    ///
    /// ```
    /// use mnemic::{Memory, NewDocument};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store_document(NewDocument::new("Rules").description("Of the park").source("Nobody may feed the geese."))?;
    /// assert_eq!(memory.recall("geese")?[0].text(), "Rules\nNobody may feed the geese.");
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        let mut passages: Vec<&Passage> = self.passages.iter().map(|hit| &hit.passage).collect();
        passages.sort_by_key(|passage| passage.bytes.start);
        let Some(first) = passages.first() else {
            return Cow::Borrowed(&self.memory.content);
        };
        let mut text = first.title.clone();
        let (mut end, mut next) = (None, None);
        for passage in passages {
            text.push('\n');
            // What two passages share is there once.
            let shared = end.filter(|end| *end > passage.bytes.start);
            let new = match (shared, end) {
                (Some(end), _) => passage
                    .text
                    .get(end - passage.bytes.start..)
                    .unwrap_or_default(),
                (None, Some(_)) if next != Some(passage.place) => {
                    text.push_str("…\n");
                    &passage.text
                }
                (None, _) => &passage.text,
            };
            text.push_str(new.trim_start());
            end = end.max(Some(passage.bytes.end));
            next = Some(passage.place.saturating_add(1));
        }
        Cow::Owned(text)
    }
}

/// A passage that was recalled.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PassageHit {
    /// The passage, and where it is.
    pub passage: Passage,
    /// How well it fits, as [`Hit::score`]; the newness in it is its document's.
    pub score: f64,
    /// How well it fits, newness left out.
    pub relevance: f64,
    /// What the score was made of: words and vector of the passage, among all passages.
    pub signals: Signals,
}

/// What a score was made of. It prints as one line.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Signals {
    /// The word signal, in [0, 1]: 0 where no word of the question is in the memory.
    pub word: f64,
    /// The bm25 of the memory over the words of the question, as FTS5 counts it but with the sign turned: higher is
    /// better. `None` where no word matched.
    pub bm25: Option<f64>,
    /// The place in the order by words alone, from 1; `None` where it is not among the candidates of that leg.
    pub word_rank: Option<usize>,
    /// The vector signal, in [0, 1]: the cosine, negative ones as 0.
    pub vector: f64,
    /// The cosine between question and memory, in [−1, 1]; `None` where there are no vectors.
    pub cosine: Option<f64>,
    /// The place in the order by vectors alone, from 1; `None` where it is not among the candidates of that leg.
    pub vector_rank: Option<usize>,
    /// The entity signal, in [0, 1]: the share of the question's entities that it has, by rarity
    /// ([`crate::Recall::entity_weight`]). `None` where entities were not searched, or no memory has one of the question.
    pub entity: Option<f64>,
    /// The place in the order by entities alone, from 1; `None` where it is not among the candidates of that leg.
    pub entity_rank: Option<usize>,
    /// The newness signal, in [0, 1]: halves with every half-life.
    pub recency: f64,
    /// The age in days; negative where the memory is dated in the future.
    pub age_days: f64,
    /// The relevance of the best passage of a document, its document's entities with it, by which its own is raised; `None`
    /// for any other memory.
    pub passage: Option<f64>,
    /// The relevance of a document by its card alone, where its best passage raised it.
    pub card: Option<f64>,
    /// The reranker's score, in [0, 1]; `None` where none read it ([`crate::Recall::rerank`]).
    pub rerank: Option<f64>,
    /// Where the score came from, if it came along a link ([`crate::Recall::expand`]); `None` where it is its own.
    pub expanded: Option<Expanded>,
    /// By which part of itself the score was raised, as a plan prefers the memory's kind ([`crate::Plan::prefer_kinds`]): 0.1
    /// is a tenth. 0 without a plan.
    pub raised: f64,
}

/// How a memory was reached along links, from one that the search found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Expanded {
    /// The id of the memory that it was reached from, and has its score from.
    pub from: String,
    /// What the last step went along.
    pub link: Link,
    /// Whether the last step went the way that the link leads.
    pub outward: bool,
    /// In how many steps.
    pub distance: usize,
    /// The part of the score that is left after them, in [0, 1].
    pub factor: f64,
}

impl fmt::Display for Expanded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, link, .. } = self;
        let steps = match self.distance {
            1 => "1 step".to_owned(),
            distance => format!("{distance} steps"),
        };
        let arrow = if self.outward { "→" } else { "←" };
        write!(f, "{steps} from {from} ({link} {arrow})")
    }
}

impl fmt::Display for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = |rank: Option<usize>| match rank {
            Some(rank) => format!(", rank {rank}"),
            None => String::new(),
        };
        match self.bm25 {
            Some(bm25) => write!(
                f,
                "words {:.2} (bm25 {bm25:.2}{})",
                self.word,
                rank(self.word_rank)
            )?,
            None => write!(f, "words –")?,
        }
        match self.cosine {
            Some(cosine) => write!(
                f,
                " · vector {:.2} (cosine {cosine:.2}{})",
                self.vector,
                rank(self.vector_rank)
            )?,
            None => write!(f, " · vector –")?,
        }
        if let Some(entity) = self.entity {
            write!(f, " · entities {entity:.2}{}", rank(self.entity_rank))?;
        }
        write!(
            f,
            " · newness {:.2} ({:.0} days)",
            self.recency, self.age_days
        )?;
        if let Some(expanded) = &self.expanded {
            write!(f, " · {expanded}, × {:.2}", expanded.factor)?;
        }
        if let Some(passage) = self.passage {
            write!(f, " · best passage {passage:.2}")?;
        }
        if let Some(score) = self.rerank {
            write!(f, " · reranker {score:.2}")?;
        }
        if self.raised > 0.0 {
            write!(f, " · raised by {:.0} %", 100.0 * self.raised)?;
        }
        Ok(())
    }
}
