//! What a handle that is bound to one project does not tell of what it shows: the ids of memories of other projects.

use mnemic_schema::Event;

use crate::Result;
use crate::lifecycle::is_within;
use crate::project::ProjectMemory;
use crate::types::StoredMemory;

impl ProjectMemory {
    /// Takes out of memories the ids of those that are not of this project.
    pub(crate) fn veil<'m>(
        &self,
        memories: impl IntoIterator<Item = &'m mut StoredMemory>,
    ) -> Result<()> {
        let mut named: Vec<&mut Option<String>> = memories
            .into_iter()
            .map(|memory| &mut memory.lifecycle)
            .flat_map(|life| [&mut life.causal_parent, &mut life.superseded_by])
            .filter(|id| id.is_some())
            .collect();
        if named.is_empty() {
            return Ok(());
        }
        let scope = self.scope();
        self.memory().read(|snapshot| {
            for id in &mut named {
                if let Some(name) = id.as_deref()
                    && !is_within(snapshot, &scope, name)?
                {
                    **id = None;
                }
            }
            Ok(())
        })
    }

    /// Takes out of events what names a memory that is not of this project, or is gone and may have been of another one.
    pub(crate) fn veil_events(&self, events: &mut [Event]) -> Result<()> {
        let mut named: Vec<(&mut Option<String>, Vec<String>)> = events
            .iter_mut()
            .map(|event| {
                let named = named_in(event.detail.as_deref());
                (&mut event.detail, named)
            })
            .filter(|(_, named)| !named.is_empty())
            .collect();
        if named.is_empty() {
            return Ok(());
        }
        let scope = self.scope();
        self.memory().read(|snapshot| {
            for (detail, ids) in &mut named {
                for id in &*ids {
                    if !is_within(snapshot, &scope, id)? {
                        **detail = None;
                    }
                }
            }
            Ok(())
        })
    }
}

/// The ids that the detail of an event names.
fn named_in(detail: Option<&str>) -> Vec<String> {
    let detail: Option<serde_json::Value> =
        detail.and_then(|detail| serde_json::from_str(detail).ok());
    let name = |key: &str| Some(detail.as_ref()?.get(key)?.as_str()?.to_owned());
    ["by", "to"].into_iter().filter_map(name).collect()
}
