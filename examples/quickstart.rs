//! Store a year of notes, close the file, open it again, and ask in other words than the notes use.
//!
//! ```text
//! cargo run --release --example quickstart [-- new.db]
//! ```
//!
//! Nothing is downloaded and nothing leaves the machine: the model that knows a boiler from a solar panel is a table of
//! 5.9 MB inside the program.

use std::error::Error;
use std::time::{Duration, Instant};

use mnemic::{Hit, Memory, Recall, Scope, Timestamp};
use mnemic_examples::{Place, notes, shorten};

/// Which project to look in, what a person asks, and how the note begins that answers it.
const QUESTIONS: &str = "\
storefront | can I publish a new version on Saturday?                   | Storefront deploys freeze
storefront | buyers were billed two times, why?                         | SF-88
fieldnotes | how are sound clips saved?                                 | Audio recordings
fieldnotes | why does a large image make the program fail?              | Crash FN-57
kestrel    | which came first, when the machines disagree about the time? | Clocks of the gateways
kestrel    | threads that lock each other out                           | To reproduce the KX-240
house      | who repairs the heating?                                   | The boiler
everywhere | which place do I want on an airplane?                      | Flights
everywhere | which desserts must we avoid?                              | The user is allergic
everywhere | accommodation in Japan                                     | Hotel Niwa";

fn main() -> Result<(), Box<dyn Error>> {
    let place = Place::from_argument(1)?;

    // One call, one transaction: after a crash, all of the notes are there or none.
    let notes = notes()?;
    let started = Instant::now();
    let memory = Memory::open(place.path())?;
    let stored = memory.store_all(notes)?;
    println!(
        "{} notes stored in {:.0?}.",
        stored.len(),
        started.elapsed()
    );
    drop(memory);

    // A year later, in another process as it were. The notes end in October 2026, so that is what "now" has to mean:
    // age is a part of the score.
    let now: Timestamp = "2026-11-01".parse()?;
    let memory = Memory::open(place.path())?;
    println!("Closed, and opened again. Ten questions, three hits each:");

    let (mut asked, mut first, mut among_three, mut no_word_shared) = (0, 0, 0, 0);
    let mut waited = Duration::ZERO;
    for line in QUESTIONS.lines() {
        let mut cells = line.split('|').map(str::trim);
        let (Some(project), Some(question), Some(answer)) =
            (cells.next(), cells.next(), cells.next())
        else {
            return Err(format!("not a question: {line}").into());
        };
        let scope = match project {
            "everywhere" => Scope::All,
            project => Scope::Project(project.into()),
        };

        let started = Instant::now();
        let hits = memory.recall(Recall::new(question).scope(scope).now(now).limit(3))?;
        waited += started.elapsed();
        asked += 1;

        println!("\n{asked:2}. {question}  [{project}]");
        let found = hits
            .iter()
            .position(|hit| hit.memory.content.starts_with(answer));
        for (rank, hit) in hits.iter().enumerate() {
            show(hit, found == Some(rank));
        }
        match found {
            Some(0) => first += 1,
            Some(_) => println!("    (the answer is there, but not first)"),
            None => println!("    (missed: the note that begins \"{answer}\")"),
        }
        if let Some(answer) = found.and_then(|rank| hits.get(rank)) {
            among_three += 1;
            no_word_shared += usize::from(answer.signals.bm25.is_none());
        }
    }

    println!(
        "\n{among_three} of {asked} answers among the first three, {first} of them first, {no_word_shared} without a word in \
         common with the question; {:.1?} a question.",
        waited / asked
    );
    if among_three < 9 {
        return Err(format!("at least 9 answers were expected, {among_three} were found").into());
    }
    Ok(())
}

/// A hit on two lines: the note, and what its score was made of.
fn show(hit: &Hit, expected: bool) {
    let mark = if expected { '✓' } else { ' ' };
    println!(
        "  {mark} {:.3}  {}",
        hit.score,
        shorten(&hit.memory.content, 100)
    );
    println!("           {}", hit.signals);
}
