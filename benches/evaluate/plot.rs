//! The bar plot: one panel a measure and data set, one bar a ranker, the default in colour.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::Result;
use crate::corpus::Corpus;
use crate::metrics::Quality;
use crate::quality::Run;
use crate::ranker::DEFAULT;

const INK: RGBColor = RGBColor(31, 41, 55);
const FAINT: RGBColor = RGBColor(107, 114, 128);
const GRID: RGBColor = RGBColor(229, 231, 235);
const BAR: RGBColor = RGBColor(165, 178, 196);
const OURS: RGBColor = RGBColor(0, 114, 178);

/// A measure with its name.
type Measure = (&'static str, fn(Quality) -> f64);

const MEASURES: [Measure; 2] = [
    ("nDCG@10", |quality| quality.ndcg_10),
    ("recall@10", |quality| quality.recall_10),
];

/// Sizes in pixels.
const PANEL: (u32, u32) = (250, 210);
const NAMES: u32 = 130;
const HEAD: u32 = 76;
const EDGE: u32 = 20;

/// Draws the quality of all runs into an SVG file.
pub fn draw(path: &Path, corpus: &Corpus, runs: &[Run], model: &str) -> Result<()> {
    let panels = panels(corpus, runs);
    let size = (
        NAMES + PANEL.0 * panels.len() as u32 + 2 * EDGE,
        HEAD + PANEL.1 * MEASURES.len() as u32 + EDGE,
    );
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let title = text(22, INK, HPos::Left, VPos::Top);
    root.draw_text(
        "How much of what is relevant is recalled",
        &title,
        (EDGE as i32, 16),
    )?;
    let subtitle = text(13, FAINT, HPos::Left, VPos::Top);
    root.draw_text(
        &format!(
            "Means over the queries, ten hits each, 0 to 1, higher is better; embedder: {model}"
        ),
        &subtitle,
        (EDGE as i32, 46),
    )?;
    let (_, body) = root.split_vertically(HEAD);
    let body = body.margin(0, EDGE, EDGE, EDGE);
    let (names, body) = body.split_horizontally(NAMES);
    let names = names.split_evenly((MEASURES.len(), 1));
    let areas = body.split_evenly((MEASURES.len(), panels.len()));
    for (row, (measure, value)) in MEASURES.into_iter().enumerate() {
        let end = panels
            .iter()
            .flat_map(|panel| &panel.qualities)
            .map(|quality| value(*quality))
            .fold(0.1, f64::max);
        let end = (end * 5.0).ceil() / 5.0;
        draw_names(&names[row], runs)?;
        for (column, panel) in panels.iter().enumerate() {
            let area = &areas[row * panels.len() + column];
            let values: Vec<f64> = panel.qualities.iter().map(|q| value(*q)).collect();
            draw_panel(area, &format!("{}: {measure}", panel.name), &values, end)?;
        }
    }
    root.present()?;
    Ok(())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// The bars of one data set.
#[derive(Debug)]
struct Panel {
    name: String,
    /// By ranker.
    qualities: Vec<Quality>,
}

fn panels(corpus: &Corpus, runs: &[Run]) -> Vec<Panel> {
    let mut panels: Vec<Panel> = corpus
        .sets
        .iter()
        .enumerate()
        .map(|(place, set)| Panel {
            name: set.name.clone(),
            qualities: runs.iter().map(|run| run.of_set(place)).collect(),
        })
        .collect();
    if panels.len() > 1 {
        panels.push(Panel {
            name: "mean".to_owned(),
            qualities: runs.iter().map(Run::mean).collect(),
        });
    }
    panels
}

/// Above the bars is a caption, under them an axis.
const CAPTION: i32 = 34;
const AXIS: i32 = 26;

/// Top and bottom of a ranker's bar in an area of so much height.
fn bar(height: u32, rankers: usize, ranker: usize) -> (i32, i32) {
    let room = f64::from(height as i32 - CAPTION - AXIS) / rankers as f64;
    let top = f64::from(CAPTION) + room * ranker as f64;
    ((top + 0.14 * room) as i32, (top + 0.86 * room) as i32)
}

fn draw_names(area: &Area<'_>, runs: &[Run]) -> Result<()> {
    let (width, height) = area.dim_in_pixel();
    for (place, run) in runs.iter().enumerate() {
        let (top, bottom) = bar(height, runs.len(), place);
        let colour = if place == DEFAULT { OURS } else { INK };
        let style = text(14, colour, HPos::Right, VPos::Center);
        let middle = (top + bottom) / 2;
        area.draw_text(run.ranker.name, &style, (width as i32 - 10, middle))?;
    }
    Ok(())
}

fn draw_panel(area: &Area<'_>, caption: &str, values: &[f64], end: f64) -> Result<()> {
    let (width, height) = area.dim_in_pixel();
    // Room for the number right of the longest bar.
    let scale = f64::from(width as i32 - 70) / end;
    let x = |value: f64| (value * scale).round() as i32;
    let floor = height as i32 - AXIS;
    let style = text(15, INK, HPos::Left, VPos::Top);
    area.draw_text(caption, &style, (0, 8))?;
    let style = text(11, FAINT, HPos::Center, VPos::Top);
    for step in 0..=10 {
        let value = f64::from(step) / 5.0;
        if value > end + 0.01 {
            break;
        }
        let line = vec![(x(value), CAPTION), (x(value), floor)];
        area.draw(&PathElement::new(line, GRID))?;
        area.draw_text(&format!("{value:.1}"), &style, (x(value), floor + 5))?;
    }
    for (place, &value) in values.iter().enumerate() {
        let (top, bottom) = bar(height, values.len(), place);
        let (fill, ink) = if place == DEFAULT {
            (OURS, OURS)
        } else {
            (BAR, INK)
        };
        area.draw(&Rectangle::new(
            [(0, top), (x(value), bottom)],
            fill.filled(),
        ))?;
        let style = text(13, ink, HPos::Left, VPos::Center);
        let middle = (top + bottom) / 2;
        // No grid line runs through the number.
        let ground = [(x(value) + 1, top), (x(value) + 46, bottom)];
        area.draw(&Rectangle::new(ground, WHITE.filled()))?;
        area.draw_text(&format!("{value:.3}"), &style, (x(value) + 6, middle))?;
    }
    Ok(())
}

/// A style whose text is put to the given side of, or on, its position.
fn text(size: u32, colour: RGBColor, across: HPos, down: VPos) -> TextStyle<'static> {
    TextStyle {
        font: ("sans-serif", size).into_font(),
        color: colour.to_backend_color(),
        pos: Pos::new(across, down),
    }
}
