//! A note that did not come up: ask why, stage by stage, until it does. Then fill a prompt with it, within a budget.
//!
//! ```text
//! cargo run --release --example explain [-- new.db]
//! ```
//!
//! `explain` asks the same question as `recall`, on the same state of the file, and tells of one memory at which stage it
//! went, and by which number.

use std::error::Error;

use mnemic::{
    Dropped, EstimatedTokens, Explanation, Memory, Outcome, Preset, Recall, Scope, Timestamp,
    TokenCounter, context,
};
use mnemic_examples::{Place, notes, shorten};

const QUESTION: &str = "can I publish a new version on Saturday?";
const WANTED: &str = "Storefront deploys freeze";

fn main() -> Result<(), Box<dyn Error>> {
    let place = Place::from_argument(1)?;
    let memory = Memory::open(place.path())?;
    let stored = memory.store_all(notes()?)?;
    let wanted = stored
        .iter()
        .find(
            |stored| matches!(memory.get(&stored.id), Ok(Some(m)) if m.content.starts_with(WANTED)),
        )
        .ok_or("the note is among those shipped")?;
    // The notes end in October 2026: that is what "now" has to mean for their ages to be the same every time.
    let now: Timestamp = "2026-11-01".parse()?;
    let ask = || Recall::new(QUESTION).now(now);
    println!("{QUESTION}\n\nThe note that should come up begins \"{WANTED}\". It does not:");

    let step = |title: &str, recall: Recall, expected: fn(&Outcome) -> bool| {
        println!("\n── {title}");
        let hits = memory.recall(recall.clone())?;
        for (rank, hit) in (1..).zip(hits.iter().take(3)) {
            println!("  {rank}. {}", shorten(&hit.memory.content, 90));
        }
        println!("  ({} hits)\n", hits.len());
        let explanation = memory.explain(recall, &wanted.id)?;
        show(&explanation);
        if !expected(&explanation.outcome) {
            return Err(
                format!("another outcome was expected than: {}", explanation.outcome).into(),
            );
        }
        Ok::<(), Box<dyn Error>>(())
    };

    step("Asked without a project", ask(), |outcome| {
        matches!(outcome, Outcome::Dropped(Dropped::Scope { .. }))
    })?;
    let storefront = || ask().scope(Scope::ProjectAndGlobal("storefront".into()));
    step(
        "In its project, but only what is new",
        storefront().since("2026-09-01".parse()?),
        |outcome| matches!(outcome, Outcome::Dropped(Dropped::Filter { .. })),
    )?;
    step(
        "Of any age, with a floor that is too high",
        storefront().min_relevance(0.6),
        |outcome| matches!(outcome, Outcome::Dropped(Dropped::MinRelevance { .. })),
    )?;
    step(
        "By words alone: the note shares none with the question",
        storefront().preset(Preset::word_only()),
        |outcome| matches!(outcome, Outcome::Dropped(Dropped::NotACandidate { .. })),
    )?;
    step("With nothing in its way", storefront(), |outcome| {
        matches!(outcome, Outcome::Hit { .. })
    })?;

    println!(
        "\n── A floor that need not be guessed: what 95 % of random questions do not reach in this file"
    );
    let calibration = memory.calibrate(Preset::default())?;
    println!(
        "  {} random questions: half reach a relevance of {:.2}, one in twenty {:.2}, one in a hundred {:.2}",
        calibration.queries,
        calibration.relevance(50.0),
        calibration.relevance(95.0),
        calibration.relevance(99.0)
    );
    for question in [
        "what is the user allergic to?",
        "how deep can the submarine dive?",
        QUESTION,
    ] {
        println!("  {question}");
        for percent in [0.0, 50.0, 95.0] {
            let scope = Scope::ProjectAndGlobal("storefront".into());
            let recall = Recall::new(question).scope(scope).now(now);
            let hits = memory.recall(recall.min_percentile(percent))?;
            let first = hits.first().map_or(String::new(), |hit| {
                format!(
                    ", {:.2}  {}",
                    hit.relevance,
                    shorten(&hit.memory.content, 64)
                )
            });
            println!("    {percent:>3} %: {:>2} hits{first}", hits.len());
        }
    }
    println!(
        "  (The last shares no word with its answer: such a match is half of one, and a strict floor loses it.)"
    );

    println!(
        "\n── What fits in 100 tokens of a prompt, oldest first: the same bytes for the same memories"
    );
    let hits = memory.recall(storefront().limit(50).budget(100, EstimatedTokens))?;
    let text = context(&hits);
    print!("{text}");
    println!(
        "({} memories, about {} tokens)",
        hits.len(),
        EstimatedTokens.count(&text)
    );
    if EstimatedTokens.count(&text) > 100 {
        return Err("the text is over its budget".into());
    }
    Ok(())
}

/// An explanation as it prints itself, but for the id, which is another one in each run.
fn show(explanation: &Explanation) {
    let text = explanation.to_string();
    let lines = text.lines().skip(1);
    println!("  {}", shorten(&explanation.memory.content, 90));
    for line in lines {
        println!("  {line}");
    }
}
