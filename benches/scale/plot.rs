//! The growth plot: how long a recall takes and what a memory costs, against the number of memories.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::Line;

const INK: RGBColor = RGBColor(31, 41, 55);
const FAINT: RGBColor = RGBColor(107, 114, 128);
const GRID: RGBColor = RGBColor(229, 231, 235);

/// What is drawn, in the colours of Okabe and Ito, which people who see colours differently can tell apart.
const TIMES: [(&str, RGBColor); 5] = [
    ("both, without the index", RGBColor(213, 94, 0)),
    ("plain f32 scan of all vectors", RGBColor(107, 114, 128)),
    ("both (the default)", RGBColor(0, 114, 178)),
    ("words alone", RGBColor(0, 158, 115)),
    ("vectors alone", RGBColor(204, 121, 167)),
];
const BYTES: [(&str, RGBColor); 2] = [
    ("bytes in the file", RGBColor(213, 94, 0)),
    ("bytes in memory (the index)", RGBColor(0, 114, 178)),
];

type Outcome = Result<(), Box<dyn Error>>;

/// Draws the lines of all sizes into an SVG file.
pub fn draw(path: &Path, lines: &[Line]) -> Outcome {
    let root = SVGBackend::new(path, (940, 430)).into_drawing_area();
    root.fill(&WHITE)?;
    let (times, bytes) = root.split_horizontally(520);
    panel(&times, "Median time of a recall, ms", &TIMES, lines)?;
    panel(&bytes, "Bytes a memory", &BYTES, lines)?;
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    title: &str,
    series: &[(&str, RGBColor)],
    lines: &[Line],
) -> Outcome {
    let of = |name: &str| -> Vec<(f64, f64)> {
        let chosen = lines.iter().filter(|line| line.what == name);
        chosen
            .map(|line| (line.memories as f64, line.p50))
            .collect()
    };
    let points: Vec<(f64, f64)> = series.iter().flat_map(|(name, _)| of(name)).collect();
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (least, most) = values.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
        least / 1.5..most * 1.5
    };
    let (x, y) = (
        range(&mut points.iter().map(|(x, _)| *x)),
        range(&mut points.iter().map(|(_, y)| *y)),
    );
    let label = ("sans-serif", 13).into_font().color(&FAINT);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 17).into_font().color(&INK))
        .margin(14)
        .x_label_area_size(38)
        .y_label_area_size(58)
        .build_cartesian_2d(x.log_scale(), y.log_scale())?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(WHITE)
        .axis_style(FAINT)
        .label_style(label.clone())
        .x_desc("memories")
        .x_label_formatter(&|x| thousands(*x))
        .y_label_formatter(&|y| thousands(*y))
        .draw()?;
    for (name, colour) in series {
        let points = of(name);
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
        chart.draw_series(
            points
                .iter()
                .map(|point| Circle::new(*point, 3, colour.filled())),
        )?;
        if let Some((x, y)) = points.last() {
            let style = ("sans-serif", 13).into_font().color(colour);
            let style = style.pos(Pos::new(HPos::Right, VPos::Bottom));
            chart.draw_series([Text::new((*name).to_owned(), (*x, *y * 1.06), style)])?;
        }
    }
    Ok(())
}

/// A number without more digits than it needs, thousands with a comma.
fn thousands(number: f64) -> String {
    if number < 1.0 {
        return format!("{number}");
    }
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
