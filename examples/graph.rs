//! A graph of memories: what caused what, what speaks for what, and a picture of it.
//!
//! ```text
//! cargo run --release --example graph [-- folder]
//! ```
//!
//! It writes `graph.dot` and `graph.svg` into the folder, or into the one for temporary files, and says where. The DOT is for
//! Graphviz or any viewer of it; the SVG is drawn here, without Graphviz.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};
use mnemic::{
    Expand, Memory, Neighbours, NewMemory, Recall, RelationKind, Relations, Timeline, Trace,
};
use mnemic_examples::shorten;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => PathBuf::from(folder),
        None => std::env::temp_dir(),
    };
    std::fs::create_dir_all(&folder)?;
    let memory = Memory::open_in_memory()?;
    story(&memory)?;

    heading("Why are there no deploys on Fridays? Asked by meaning, then along the links");
    let question = || {
        Recall::new("why are there no releases at the end of the week?")
            .limit(1)
            .now("2026-12-01".parse().unwrap_or(mnemic::Timestamp::MAX))
    };
    for hit in memory.recall(question())? {
        println!("  {:.2}  {}", hit.score, hit.memory.content);
    }
    println!("  with what is linked to it:");
    for hit in memory.recall(question().limit(6).expand(Expand::new().decay(0.8)))? {
        let how = match &hit.signals.expanded {
            Some(how) => format!("   [{how}]"),
            None => String::new(),
        };
        println!("  {:.2}  {}{how}", hit.score, hit.memory.content);
    }

    heading("Where a rule comes from: its causes, nearest first");
    let Trace {
        memory: rule,
        ancestors,
        descendants,
        relations,
        ..
    } = memory.trace("no-friday-deploys", 10)?;
    println!("  {}", rule.content);
    for cause in &ancestors {
        let indent = "  ".repeat(cause.depth);
        println!("  {indent}because {}", cause.memory.content);
    }
    println!("  and what came of it:");
    for effect in &descendants {
        println!("    {}", effect.memory.content);
    }
    println!("  and what is said of it:");
    for relation in &relations {
        let why = relation.explanation.as_deref().unwrap_or("–");
        println!(
            "    {} {} {}: {why}",
            relation.from, relation.kind, relation.to
        );
    }

    heading("Who speaks against it?");
    let against = Neighbours::of("no-friday-deploys")
        .kinds([RelationKind::CONTRADICTS])
        .inward();
    for neighbour in memory.neighbours(against)? {
        println!("  {}", neighbour.memory.content);
    }

    heading("What has the full disk to do with the second maintainer?");
    if let Some(path) = memory.shortest_path(("full-disk", "second-maintainer"))? {
        println!("  {}", path.memories[0].content);
        for (step, memory) in path.steps.iter().zip(&path.memories[1..]) {
            let arrow = if step.outward { "→" } else { "←" };
            println!("    {arrow} {} {arrow}  {}", step.link, memory.content);
        }
    }

    heading("The most connected, with how many relations they have");
    for hub in memory.hubs(3)? {
        println!("  {}  {}", hub.relations(), hub.memory.content);
    }

    let dot = dot(&memory)?;
    let svg = svg(&dot)?;
    let (dot_path, svg_path) = (folder.join("graph.dot"), folder.join("graph.svg"));
    std::fs::write(&dot_path, dot)?;
    std::fs::write(&svg_path, svg)?;
    heading("The picture");
    println!("  {}\n  {}", dot_path.display(), svg_path.display());
    Ok(())
}

/// An outage and what came of it.
fn story(memory: &Memory) -> Result<(), Box<dyn Error>> {
    // Id, day, cause, text.
    let events = [
        (
            "log-level",
            "2026-03-02",
            "",
            "The log level of the shop was set to debug to look for a slow query",
        ),
        (
            "full-disk",
            "2026-03-06",
            "log-level",
            "The disk of the database server ran full on Friday evening",
        ),
        (
            "outage",
            "2026-03-06",
            "full-disk",
            "The shop was down for a whole weekend in March",
        ),
        (
            "rotation",
            "2026-03-09",
            "full-disk",
            "Logs are rotated daily and kept for a week",
        ),
        (
            "refunds",
            "2026-03-10",
            "outage",
            "Every customer of that weekend got a voucher for ten euros",
        ),
        (
            "no-friday-deploys",
            "2026-03-12",
            "outage",
            "Nothing is released on Fridays",
        ),
        (
            "release-train",
            "2026-03-16",
            "no-friday-deploys",
            "The release train leaves on Tuesdays at ten",
        ),
        (
            "second-maintainer",
            "2026-04-01",
            "outage",
            "Mira learns to run the database, so that two people can",
        ),
        (
            "hotfix",
            "2026-05-15",
            "",
            "A security fix went out on a Friday and nothing broke",
        ),
        (
            "exception",
            "2026-05-18",
            "hotfix",
            "Security fixes may be released on any day, with two people on call",
        ),
    ];
    for (id, day, cause, text) in events {
        let new = NewMemory::new(text).id(id).created_at(day.parse()?);
        memory.store(match cause {
            "" => new,
            cause => new.caused_by(cause),
        })?;
    }
    memory.relate_all([
        (
            "rotation",
            "full-disk",
            "prevents",
            "with a week of logs the disk stays half empty",
        ),
        (
            "outage",
            "no-friday-deploys",
            "supports",
            "nobody was at work to see it for two days",
        ),
        (
            "hotfix",
            "no-friday-deploys",
            "contradicts",
            "a release on a Friday that went well",
        ),
        (
            "exception",
            "no-friday-deploys",
            "derived_from",
            "it takes security fixes out of the rule",
        ),
        (
            "second-maintainer",
            "exception",
            "supports",
            "two people on call need two who can",
        ),
        (
            "release-train",
            "exception",
            "related_to",
            "a fix does not wait for the train",
        ),
    ])?;
    Ok(())
}

/// All memories and links in the language of Graphviz: causes as bold arrows, relations as dashed ones with their kinds.
fn dot(memory: &Memory) -> Result<String, Box<dyn Error>> {
    let mut dot = String::from("digraph memories {\n");
    let memories = memory.timeline(Timeline::new().oldest_first())?;
    let names: BTreeMap<&str, usize> = memories.iter().map(|m| m.id.as_str()).zip(0..).collect();
    for (memory, name) in memories.iter().zip(0..) {
        let day: String = memory.created_at.to_string().chars().take(10).collect();
        let label = format!("{day}\n{}", wrapped(&shorten(&memory.content, 60), 24));
        writeln!(dot, "  m{name} [shape=box, label={}];", quoted(&label))?;
    }
    for memory in &memories {
        if let Some(cause) = &memory.lifecycle.causal_parent {
            let (from, to) = (names[cause.as_str()], names[memory.id.as_str()]);
            writeln!(dot, "  m{from} -> m{to} [style=solid, label=\"\"];")?;
        }
    }
    for relation in memory.relations(Relations::all())? {
        let (from, to) = (names[relation.from.as_str()], names[relation.to.as_str()]);
        let kind = quoted(relation.kind.as_str());
        writeln!(dot, "  m{from} -> m{to} [style=dashed, label={kind}];")?;
    }
    dot.push_str("}\n");
    Ok(dot)
}

/// A text in the quotes of DOT.
fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// A text in lines of about so many characters.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Draws DOT as SVG.
fn svg(dot: &str) -> Result<String, Box<dyn Error>> {
    let graph = DotParser::new(dot)
        .process()
        .map_err(|error| format!("the DOT cannot be read: {error}"))?;
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&graph);
    let mut picture = builder.get();
    let mut writer = SVGWriter::new();
    picture.do_it(false, false, false, &mut writer);
    Ok(writer.finalize())
}

fn heading(text: &str) {
    println!("\n── {text}");
}
