//! Explanations as a person reads them. Every number is one that the explanation states; none is computed here.

use std::fmt;

use mnemic_rank::fusion::RERANK_WEIGHT;
use mnemic_schema::{Kind, Scope, Timestamp};

use crate::recall::explain::{Condition, Dropped, Explanation, Outcome, Silence};
use crate::recall::preset::Formula;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beginning: String = self.memory.content.chars().take(60).collect();
        let cut = if beginning.len() < self.memory.content.len() {
            "…"
        } else {
            ""
        };
        writeln!(f, "{}: {beginning:?}{cut}", self.memory.id)?;
        if let Some(plan) = &self.plan {
            writeln!(f, "  {plan}")?;
        }
        writeln!(f, "  {}", self.outcome)?;
        self.write_words(f)?;
        self.write_vector(f)?;
        self.write_entities(f)?;
        self.write_score(f)
    }
}

impl Explanation {
    fn write_words(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.held.is_empty() && self.lacking.is_empty() {
            return Ok(());
        }
        let list = |words: &[String]| match words {
            [] => "none".to_owned(),
            words => words.join(", "),
        };
        let (held, lacking) = (list(&self.held), list(&self.lacking));
        write!(f, "  words      ")?;
        match &self.signals {
            _ if self.manner.preset.word_weight <= 0.0 => {
                write!(f, "not searched: the preset gives them no weight")?
            }
            Some(signals) => {
                write!(f, "{:.3}", signals.word)?;
                write_rank(f, signals.word_rank)?;
            }
            None => write!(f, "–")?,
        }
        writeln!(f, "; held: {held}; not held: {lacking}")
    }

    fn write_vector(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.without_vectors, &self.signals) {
            (Some(silence), _) => writeln!(f, "  vector     not searched: {silence}"),
            (None, Some(signals)) => match signals.cosine {
                Some(cosine) => {
                    write!(f, "  vector     {:.3}", signals.vector)?;
                    write_rank(f, signals.vector_rank)?;
                    writeln!(f, "; cosine {cosine:.3}")
                }
                None => writeln!(f, "  vector     none: repair() embeds what has no vector"),
            },
            (None, None) => Ok(()),
        }
    }

    /// Nothing where entities were not searched.
    fn write_entities(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signals = self.signals.as_ref();
        let Some((entity, rank)) = signals.and_then(|of| Some((of.entity?, of.entity_rank))) else {
            return Ok(());
        };
        write!(f, "  entities   {entity:.3}")?;
        write_rank(f, rank)?;
        writeln!(f)
    }

    fn write_score(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(score), Some(relevance), Some(signals)) =
            (self.score, self.relevance, &self.signals)
        else {
            return Ok(());
        };
        let (word, vector) = (
            self.manner.preset.word_weight,
            self.manner.preset.vector_weight,
        );
        let share = self.manner.preset.recency_weight;
        let newness = signals.recency;
        let entities = match signals.entity {
            Some(_) => self.manner.entity_weight,
            None => 0.0,
        };
        let and_entities = match signals.entity {
            Some(_) => format!(" + {entities} · entities"),
            None => String::new(),
        };
        writeln!(
            f,
            "  newness    {newness:.3}; {:.1} days old",
            signals.age_days
        )?;
        // A score from a link is what the link gives.
        if signals.raised > 0.0 && signals.expanded.is_none() {
            writeln!(
                f,
                "  raised     by {:.0} %, as the plan prefers its kind: the score is so much more than follows",
                100.0 * signals.raised
            )?;
        }
        if let Some(expanded) = &signals.expanded {
            writeln!(f, "  expanded   {expanded}")?;
        }
        if let Some(rerank) = signals.rerank {
            let (kept, given) = (1.0 - RERANK_WEIGHT, RERANK_WEIGHT);
            writeln!(f, "  reranker   {rerank:.3}")?;
            writeln!(
                f,
                "  relevance  {relevance:.3} = {given} · reranker + {kept:.1} · relevance before"
            )?;
            return writeln!(
                f,
                "  score      {score:.3} = {} · relevance + {share} · newness",
                1.0 - share
            );
        }
        if let Some(expanded) = &signals.expanded {
            let (factor, from) = (expanded.factor, &expanded.from);
            writeln!(
                f,
                "  relevance  {relevance:.3}, its own or {factor:.3} · that of {from}"
            )?;
            return writeln!(f, "  score      {score:.3} = {factor:.3} · that of {from}");
        }
        let by_passage = signals.passage.zip(signals.card);
        let (name, whole) = match by_passage {
            Some((_, card)) => ("card     ", card),
            None => ("relevance", relevance),
        };
        match self.manner.preset.formula {
            Formula::Convex if self.without_vectors.is_some() && signals.entity.is_none() => {
                writeln!(f, "  {name}  {whole:.3}, by words alone")?;
            }
            Formula::Convex if self.without_vectors.is_some() => writeln!(
                f,
                "  {name}  {whole:.3} = ({word} · words{and_entities}) / {}",
                word + entities
            )?,
            Formula::Convex | Formula::Rekal => writeln!(
                f,
                "  {name}  {whole:.3} = ({word} · words + {vector} · vector{and_entities}) / {}",
                word + vector + entities
            )?,
            Formula::ReciprocalRank => {
                writeln!(f, "  {name}  {whole:.4} = the sum of weight / (60 + rank)")?
            }
        }
        if let Some((passage, _)) = by_passage {
            let weight = self.passage_weight;
            writeln!(f, "  passage    {passage:.4}, its best one")?;
            writeln!(
                f,
                "  relevance  {relevance:.4} = card + {weight} · (passage − card)"
            )?;
        }
        match self.manner.preset.formula {
            Formula::Convex => writeln!(
                f,
                "  score      {score:.3} = {} · relevance + {share} · newness",
                1.0 - share
            ),
            Formula::Rekal => {
                write!(
                    f,
                    "  score      {score:.3} = {word} · words + {vector} · vector + {share} · newness{and_entities}"
                )?;
                if by_passage.is_some() {
                    let all = word + vector + entities;
                    write!(f, " + {all} · (relevance − card)")?;
                }
                writeln!(f)
            }
            Formula::ReciprocalRank => {
                writeln!(f, "  score      {score:.4} = relevance + {share} · newness")
            }
        }
    }
}

fn write_rank(f: &mut fmt::Formatter<'_>, rank: Option<usize>) -> fmt::Result {
    match rank {
        Some(rank) => write!(f, ", rank {rank}"),
        None => write!(f, ", not among its best"),
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hit { rank, of } => write!(f, "hit {rank} of {of}"),
            Self::Dropped(dropped) => write!(f, "dropped by {dropped}"),
        }
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scope { scope, project } => {
                let whose = match project {
                    Some(project) => format!("of the project {project:?}"),
                    None => "global".to_owned(),
                };
                let asked = match scope {
                    Scope::Global => "global memories".to_owned(),
                    Scope::Project(project) => format!("those of {project:?}"),
                    Scope::ProjectAndGlobal(project) => {
                        format!("those of {project:?} and global ones")
                    }
                    _ => "all".to_owned(),
                };
                write!(f, "the scope: it is {whose}, and {asked} were asked for")
            }
            Self::Filter { failed } => {
                let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
                write!(f, "the filter: {}", failed.join("; "))
            }
            Self::NoWords => write!(f, "the question: it has no letter or digit to search by"),
            Self::NotACandidate {
                word_rank: None,
                vector_rank: None,
                entity_rank: None,
                ..
            } => write!(f, "the search: no leg finds it, whatever the limit"),
            Self::NotACandidate {
                word_rank,
                vector_rank,
                entity_rank,
                candidates,
            } => {
                let rank = |rank: &Option<usize>| {
                    rank.map_or("not found".to_owned(), |rank| format!("rank {rank}"))
                };
                write!(
                    f,
                    "the search: by words {}, by vectors {}{}, and each gives {candidates} candidates; a larger limit looks \
                     deeper",
                    rank(word_rank),
                    rank(vector_rank),
                    entity_rank
                        .map_or_else(String::new, |rank| format!(", by entities rank {rank}"))
                )
            }
            Self::MinScore { score, floor } => {
                write!(f, "min_score: {score:.4} is under {floor:.4}")
            }
            Self::MinRelevance { relevance, floor } => {
                write!(f, "min_relevance: {relevance:.4} is under {floor:.4}")
            }
            Self::MinPercentile {
                relevance,
                floor,
                percent,
            } => write!(
                f,
                "min_percentile: {relevance:.4} is under {floor:.4}, which {percent} % of random questions do not reach"
            ),
            Self::Limit { rank, limit } => write!(
                f,
                "the limit: it is number {rank}, and {limit} were asked for"
            ),
            Self::Budget {
                rank,
                tokens,
                left,
                budget,
            } => write!(
                f,
                "the budget: number {rank} has {tokens} tokens, and better ones left {left} of {budget}"
            ),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TagsAny(tags) => write!(f, "it has none of the tags {tags:?} (tags_any)"),
            Self::TagsAll(tags) => write!(f, "it has not all of the tags {tags:?} (tags_all)"),
            Self::TagsNone(tags) => write!(f, "it has one of the tags {tags:?} (tags_none)"),
            Self::Since(time) => write!(f, "it was created before {time} (since)"),
            Self::Until(time) => write!(f, "it was not created before {time} (until)"),
            Self::EntitiesAny(names) => {
                write!(f, "it has none of the entities {names:?} (entities_any)")
            }
            Self::Ids => write!(f, "its id is not among those given (ids)"),
            Self::Phrase(phrase) => write!(f, "it does not hold {phrase:?} (phrase)"),
            Self::Kinds(kinds) => {
                let kinds: Vec<&str> = kinds.iter().map(Kind::as_str).collect();
                write!(f, "it is of none of the kinds {kinds:?} (kinds)")
            }
            Self::MinImportance(least) => {
                write!(f, "its importance is under {least} (min_importance)")
            }
            Self::MinTrust(least) => write!(f, "its trust is under {least} (min_trust)"),
            Self::Layer(layer) => write!(f, "it is not of the layer {layer} (layer)"),
            Self::Sources(sources) => {
                write!(f, "it is from none of the sources {sources:?} (sources)")
            }
            Self::Pinned(true) => write!(f, "it is not pinned (pinned)"),
            Self::Pinned(false) => write!(f, "it is pinned (pinned)"),
            Self::NotSuperseded(by) => write!(
                f,
                "another memory stands in its place{} (include)",
                by_then(*by)
            ),
            Self::NotForgotten(by) => write!(f, "it is forgotten{} (include)", by_then(*by)),
            Self::Begun(time) => write!(
                f,
                "what it says did not hold yet at {time} (include, valid_at)"
            ),
            Self::NotExpired(time) => {
                write!(f, "what it says held no more at {time} (include, valid_at)")
            }
            Self::KnownAt(time) => write!(f, "it was not there yet at {time} (known_at)"),
        }
    }
}

/// By when something was so, where that was asked.
fn by_then(time: Timestamp) -> String {
    if time == Timestamp::MAX {
        String::new()
    } else {
        format!(" since {time} or before")
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoWeight => "the preset gives them no weight",
            Self::NoModel => "this handle has no model",
            Self::NoVectors => "the file has no vectors of this handle's model",
            Self::NothingToEmbed => "the model finds nothing to embed in the question",
        })
    }
}
