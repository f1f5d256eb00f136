//! Entities of memories: the verbs that read them, and how those of a text come to be. Finding them is the extractor's work,
//! called here alone, outside of locks and transactions, its answers looked at before they are believed.

use std::collections::HashSet;

use mnemic_schema::{EntityCount, Order, Scope, fold};

use crate::entity::{EntityExtractor, RuleExtractor, grams};
use crate::memory::Memory;
use crate::recall::beginning;
use crate::recall::request::Recall;
use crate::timeline::Timeline;
use crate::types::{NewMemory, StoredMemory};
use crate::{Error, ErrorKind, Result};

/// Most texts handed to an extractor at once.
const BATCH: usize = 256;

impl Memory {
    /// The entities of a memory, as they were given or found, in their order.
    ///
    /// # Errors
    /// `NotFound` where no memory has the id; `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Memory, NewMemory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let id = memory.store(NewMemory::new("the spare key is with her").entities(["Anna", "anna"]))?.id;
    /// assert_eq!(memory.entities_of(&id)?, ["Anna"]);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn entities_of(&self, id: &str) -> Result<Vec<String>> {
        let entities = self.read(|snapshot| Ok(snapshot.entities_of(id)?))?;
        entities.ok_or_else(|| Error::not_found(id))
    }

    /// The entities that most memories have, of all projects, the most frequent first, equal ones by name; at most `limit`.
    /// Each is told in the spelling that most of those memories give it.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Memory, NewMemory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store(NewMemory::new("likes tea").entities(["Anna"]))?;
    /// memory.store(NewMemory::new("has the spare key").entities(["Anna", "Bob"]))?;
    /// let most = memory.entities(1)?;
    /// assert_eq!((most[0].name.as_str(), most[0].memories), ("Anna", 2));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn entities(&self, limit: usize) -> Result<Vec<EntityCount>> {
        self.entities_within(&Scope::All, limit)
    }

    pub(crate) fn entities_within(&self, scope: &Scope, limit: usize) -> Result<Vec<EntityCount>> {
        self.read(|snapshot| Ok(snapshot.entities(scope, Some(limit))?))
    }

    /// The memories that have an entity, of all projects, newest first. For a part of them, ask a [`Timeline`] with
    /// [`Timeline::entities_any`].
    ///
    /// # Errors
    /// As [`Memory::timeline`].
    ///
    /// ```
    /// use mnemic::{Memory, NewMemory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store(NewMemory::new("likes tea").entities(["Zoë"]))?;
    /// assert_eq!(memory.with_entity("ZOË")?[0].content, "likes tea");
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn with_entity(&self, name: impl Into<String>) -> Result<Vec<StoredMemory>> {
        let filter = Timeline::new().entities_any([name.into()]).filter;
        self.read(|snapshot| {
            let rows = snapshot.list(&filter, Order::NewestFirst, None)?;
            Ok(rows.into_iter().map(Into::into).collect())
        })
    }

    /// The memories, those of which no entities were named with those of their text, where the handle looks for any.
    pub(crate) fn named_or_found(&self, mut memories: Vec<NewMemory>) -> Result<Vec<NewMemory>> {
        let Some(extractor) = self.extractor() else {
            return Ok(memories);
        };
        let unnamed = || memories.iter().filter(|memory| memory.entities.is_none());
        let texts: Vec<&str> = unnamed().map(|memory| memory.content.as_str()).collect();
        let mut found = extract(extractor, &texts)?.into_iter();
        let unnamed = memories
            .iter_mut()
            .filter(|memory| memory.entities.is_none());
        for memory in unnamed {
            memory.entities = found.next();
        }
        Ok(memories)
    }

    /// What a question may name, as it is compared: what the extractor finds in it, and all that might be an entity of the
    /// file. Nothing where entities have no weight.
    pub(crate) fn asked_for(&self, recall: &Recall) -> Result<Vec<String>> {
        if !recall.any_manner(|manner| manner.entity_weight > 0.0) {
            return Ok(Vec::new());
        }
        let question = beginning(&recall.query);
        let rules = RuleExtractor::new();
        let extractor = self.extractor().unwrap_or(&rules);
        let found = extract(extractor, &[question])?.pop().unwrap_or_default();
        let mut seen = HashSet::new();
        let folded = found
            .into_iter()
            .chain(grams(question))
            .map(|name| fold(&name));
        Ok(folded.filter(|name| seen.insert(name.clone())).collect())
    }

    /// The entities of a text; `None` where the handle looks for none.
    pub(crate) fn found_in(&self, text: &str) -> Result<Option<Vec<String>>> {
        let Some(extractor) = self.extractor() else {
            return Ok(None);
        };
        Ok(extract(extractor, &[text])?.pop())
    }
}

/// The entities of texts, with the contract enforced: one list a text. What has no letter or digit is left out.
pub(crate) fn extract(extractor: &dyn EntityExtractor, texts: &[&str]) -> Result<Vec<Vec<String>>> {
    let mut lists = Vec::with_capacity(texts.len());
    for batch in texts.chunks(BATCH) {
        let found = extractor.extract(batch)?;
        if found.len() != batch.len() {
            return Err(Error::new(
                ErrorKind::Extraction,
                format!(
                    "the entity extractor broke its contract: {} lists for {} texts",
                    found.len(),
                    batch.len()
                ),
            ));
        }
        lists.extend(found);
    }
    for list in &mut lists {
        list.retain(|name| !name.trim().is_empty());
    }
    Ok(lists)
}

/// Refuses names that are none.
pub(crate) fn check_entities(names: Option<&[String]>) -> Result<()> {
    let mut names = names.unwrap_or_default().iter();
    if names.any(|name| name.trim().is_empty()) {
        return Err(Error::invalid(
            "an entity needs a name, one of those given is empty or white space: leave it out, or give no names for none",
        ));
    }
    Ok(())
}
