//! Week heat strips: seven rows of 24 hours, drawn by us, with the numbers on hover and as a table for those who can't see.

use std::fmt::Write as _;

use super::frame::Part;
use super::grid::{Cell, Grid, Head};
use crate::amount::share;
use crate::view::hours::WeekHours;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Pixels of a cell and of what stands around the cells.
const CELL: usize = 18;
/// See `CELL`.
const LEFT: usize = 34;
/// See `CELL`.
const TOP: usize = 16;

/// The picture of a week and its numbers, folded away.
pub fn week(title: &str, hours: &WeekHours) -> Vec<Part> {
    if !hours.is_known() {
        return vec![Part::Text(format!("{title}: unknown, no metrics are joined."))];
    }
    let mut svg = format!(
        r#"<figure class="strip"><figcaption>{} ({})</figcaption><svg viewBox="0 0 {} {}" role="img" aria-label="{}; the numbers are in the table below it">"#,
        escaped(title),
        escaped(&hours.zone),
        LEFT + 24 * CELL,
        TOP + 7 * CELL,
        escaped(title),
    );
    for hour in (0..24).step_by(3) {
        let _ = write!(svg, r#"<text x="{}" y="11">{hour:02}</text>"#, LEFT + hour * CELL);
    }
    for (day, name) in DAYS.iter().enumerate() {
        let _ = write!(svg, r#"<text x="0" y="{}">{name}</text>"#, TOP + day * CELL + 13);
        for hour in 0..24 {
            cell(&mut svg, (day, hour), hours.activity[day * 24 + hour]);
        }
    }
    svg.push_str("</svg></figure>");
    vec![Part::Html(svg), Part::Folded("Numbers".into(), table(title, hours))]
}

fn cell(svg: &mut String, (day, hour): (usize, usize), activity: Option<f64>) {
    let (x, y, size) = (LEFT + hour * CELL, TOP + day * CELL, CELL - 2);
    let when = format!("{} {hour:02}:00", DAYS[day]);
    let (class, opacity, words) = match activity {
        None => ("none", 1.0, "unknown".to_owned()),
        Some(value) if value <= 0.0 => ("zero", 1.0, "0 %".to_owned()),
        Some(value) => ("some", 0.15 + 0.85 * value.min(1.0), share(value)),
    };
    let _ = write!(
        svg,
        r#"<rect class="{class}" x="{x}" y="{y}" width="{size}" height="{size}" fill-opacity="{opacity:.2}"><title>{when}: {words}</title></rect>"#
    );
}

fn table(title: &str, hours: &WeekHours) -> Grid {
    let heads = std::iter::once(Head::text("hour")).chain(DAYS.iter().map(|day| Head::number(*day)));
    let mut grid = Grid::new(title, heads);
    for hour in 0..24 {
        let cells = (0..7).map(|day| {
            let value = hours.activity[day * 24 + hour];
            Cell::new(value.map_or_else(|| "unknown".to_owned(), share))
        });
        grid.row(std::iter::once(Cell::new(format!("{hour:02}:00"))).chain(cells));
    }
    grid
}

/// A text as HTML: nothing in it is markup.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_title_is_text() {
        let hours = WeekHours {
            zone: "UTC".into(),
            activity: vec![Some(0.5); 168],
        };
        let parts = week("<script>alert(1)</script>\"", &hours);
        let Part::Html(html) = &parts[0] else {
            panic!("no picture")
        };
        assert!(!html.contains("<script") && html.contains("&lt;script&gt;") && html.matches("<rect").count() == 168);
        assert!(matches!(&parts[1], Part::Folded(_, grid) if grid.rows.len() == 24));
    }
}
