//! Taking events in: those that are here already are found, the others keep their numbers or all move up by one number. It
//! never changes an event that is here.

use std::collections::{HashMap, HashSet};

use mnemic_schema::WriteTransaction;

use super::import::Taken;
use super::records::{EventRecord, Records};
use crate::Result;

/// Adds the events that are not here yet. Those without a project are of `project`.
pub(super) fn take_in(
    transaction: &mut WriteTransaction<'_>,
    records: &mut Records<EventRecord>,
    project: Option<&str>,
) -> Result<Taken> {
    let mut taken = Taken::default();
    if records.len == 0 {
        return Ok(taken);
    }
    let last = transaction.last_event()?;
    // Their number there, and here.
    let mut here: HashMap<i64, i64> = HashMap::new();
    let mut used: HashSet<i64> = HashSet::new();
    // Which record is here already, by the order of the records.
    let mut known: HashSet<u64> = HashSet::new();
    if last > 0 {
        let (mut order, mut shift) = (0u64, 0i64);
        records.each(|record| {
            let (own, undoes) = (record.number, record.undoes);
            let guess = own.map(|own| own.saturating_add(shift));
            let event = of_project(record, project).row(0, 0, undoes)?;
            let free = |guess| -> Result<Option<i64>> {
                let like = transaction.events_like(&event, guess)?;
                Ok(like.into_iter().find(|number| !used.contains(number)))
            };
            let found = match free(guess)? {
                None if guess.is_some() => free(None)?,
                found => found,
            };
            if let Some(number) = found {
                used.insert(number);
                known.insert(order);
                if let Some(own) = own {
                    here.insert(own, number);
                    shift = number.saturating_sub(own);
                }
            }
            order += 1;
            Ok(())
        })?;
    }
    // The new ones move up together, so that none gets a number that one here has or had.
    let (mut order, mut least) = (0u64, i64::MAX);
    records.each(|record| {
        if !known.contains(&order) {
            let names = [record.number, record.batch, record.undoes];
            let names = names.into_iter().flatten();
            least = names
                .filter(|name| !here.contains_key(name))
                .fold(least, i64::min);
        }
        order += 1;
        Ok(())
    })?;
    let shift = if least > last { 0 } else { last - least + 1 };
    let moved = |name: i64| {
        here.get(&name)
            .copied()
            .unwrap_or(name.saturating_add(shift))
    };
    let (mut order, mut next) = (0u64, last);
    records.each(|record| {
        let is_known = known.contains(&order);
        order += 1;
        if is_known {
            taken.unchanged += 1;
            return Ok(());
        }
        let number = record.number.map_or(next + 1, moved);
        let batch = record.batch.map_or(number, moved);
        let undoes = record.undoes.map(moved);
        next = next.max(number);
        let event = of_project(record, project).row(number, batch, undoes)?;
        transaction.carry_event(&event)?;
        taken.added += 1;
        Ok(())
    })?;
    Ok(taken)
}

/// An event as the memories are: those that come without a project get one.
fn of_project(mut record: EventRecord, project: Option<&str>) -> EventRecord {
    if let Some(project) = project
        && record.project.is_none()
    {
        record.project = Some(project.to_owned());
        let named = format!("\"project\":{}", serde_json::Value::from(project));
        // Within a text the quotes would be escaped.
        record.before = record
            .before
            .map(|before| before.replacen("\"project\":null", &named, 1));
    }
    record
}
