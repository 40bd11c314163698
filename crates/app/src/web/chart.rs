//! Charts: drawn by plotly.js in the browser, each with the same numbers as a table under it.
//!
//! Colours are names of the style (`var(--class-training)`): the script looks them up, so that a chart follows the theme.

use std::collections::BTreeMap;

use lowwater_model::money::Money;
use plotly::common::{HoverInfo, Marker, TextPosition};
use plotly::layout::{Axis, AxisType, BarMode, Layout};
use plotly::{Bar, Plot};

use super::grid::{Cell, Grid, Head};
use crate::amount::cents;
use crate::view::week::DayCost;

/// Series of a chart over time; the rest is folded into one.
pub const MAX_SERIES: usize = 8;

/// A picture of numbers.
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// Height in pixels.
    pub height: u16,
    /// For plotly.js: data and layout.
    pub json: String,
    /// The same numbers.
    pub table: Grid,
}

/// One named row of numbers.
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its colour, a name of the style.
    pub colour: String,
    /// One value an x; none = unknown.
    pub values: Vec<Option<Money>>,
}

/// Colours of things without one of their own, in order.
const COLOURS: [&str; 8] = [
    "--series-1",
    "--series-2",
    "--series-3",
    "--series-4",
    "--series-5",
    "--series-6",
    "--series-7",
    "--series-8",
];

/// The colour of a label: that of its class, grey for what belongs to nobody, else by its place.
pub fn colour(label: &str, place: usize) -> String {
    let name = match label {
        "training" => "--class-training",
        "fine-tuning" => "--class-fine-tuning",
        "realtime-inference" => "--class-realtime-inference",
        "batch-inference" => "--class-batch-inference",
        "development" => "--class-development",
        "ci" | "experiment" => "--class-ci",
        "(unused commitment)" => "--unused-commitment",
        "unknown" => "--unknown",
        "other" => "--strong",
        nobody if nobody.starts_with('(') => "--unknown",
        _ => COLOURS[place % COLOURS.len()],
    };
    format!("var({name})")
}

/// The script element of a page holds it: nothing in it may end that.
fn embedded(plot: &Plot) -> String {
    plot.to_json()
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn amounts(values: &[Option<Money>]) -> Vec<Option<f64>> {
    values
        .iter()
        .map(|value| value.map(|m| m.estimate().amount()))
        .collect()
}

/// What an unknown is on a chart: nothing.
fn drawn(values: &[Option<Money>]) -> Vec<f64> {
    amounts(values)
        .into_iter()
        .map(|value| value.unwrap_or(f64::NAN))
        .collect()
}

fn layout() -> Layout {
    Layout::new().show_legend(true).bar_gap(0.15)
}

/// The numbers of series, one column each.
fn table(title: &str, x: (&str, &[String]), series: &[Series], unit: &str) -> Grid {
    let heads =
        std::iter::once(Head::text(x.0)).chain(series.iter().map(|s| Head::number(format!("{} ({unit})", s.name))));
    let mut grid = Grid::new(title, heads);
    for (at, label) in x.1.iter().enumerate() {
        let cells = series.iter().map(|s| {
            let value = s.values.get(at).copied().flatten();
            Cell::new(value.map_or_else(|| "unknown".to_owned(), cents))
        });
        grid.row(std::iter::once(Cell::new(label.clone())).chain(cells));
    }
    grid
}

/// Days by label: the labels with most money, the others as one series.
pub fn of_days(title: &str, days: &[DayCost], unit: &str) -> Chart {
    let mut totals: BTreeMap<&str, Money> = BTreeMap::new();
    for (label, cost) in days.iter().flat_map(|day| &day.cost) {
        *totals.entry(label).or_default() += *cost;
    }
    let mut ranked: Vec<(&str, Money)> = totals.into_iter().collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let named: Vec<&str> = ranked.iter().map(|(label, _)| *label).take(MAX_SERIES - 1).collect();
    let of_label = |(at, label): (usize, &&str)| Series {
        name: (*label).to_owned(),
        colour: colour(label, at),
        values: days
            .iter()
            .map(|day| Some(day.cost.get(*label).copied().unwrap_or(Money::ZERO)))
            .collect(),
    };
    let mut series: Vec<Series> = named.iter().enumerate().map(of_label).collect();
    let rest = ranked.len() - named.len();
    if rest > 0 {
        let others = |day: &DayCost| {
            let others = day.cost.iter().filter(|(label, _)| !named.contains(&label.as_str()));
            others.map(|(_, cost)| *cost).sum()
        };
        series.push(Series {
            name: format!("other ({rest})"),
            colour: colour("other", 0),
            values: days.iter().map(|day| Some(others(day))).collect(),
        });
    }
    let names: Vec<String> = days.iter().map(|day| day.day.clone()).collect();
    over_time(title, &names, &series, unit)
}

/// Money over time, stacked.
pub fn over_time(title: &str, days: &[String], series: &[Series], unit: &str) -> Chart {
    let mut plot = Plot::new();
    for one in series {
        let bar = Bar::new(days.to_vec(), drawn(&one.values))
            .name(one.name.clone())
            .marker(Marker::new().color(one.colour.clone()))
            .hover_template(format!(
                "%{{x}}<br>%{{fullData.name}}: %{{y:,.2f}} {unit}<extra></extra>"
            ));
        plot.add_trace(bar);
    }
    plot.set_layout(
        layout()
            .bar_mode(BarMode::Stack)
            .y_axis(Axis::new().title(unit.to_owned())),
    );
    Chart {
        title: title.to_owned(),
        height: 300,
        json: embedded(&plot),
        table: table(title, ("day", days), series, unit),
    }
}

/// One stage of a waterfall.
pub struct Stage {
    /// What it is.
    pub name: String,
    /// Where it stands: whole amounts begin at nothing, changes where the one before ended.
    pub amount: f64,
    /// A whole amount, not a change.
    pub whole: bool,
    /// As it is read.
    pub text: String,
    /// What stands under its bar, where the name is too long.
    pub short: String,
}

/// From one amount to another by steps; `fall` is the colour of what goes down.
pub fn waterfall(title: &str, stages: &[Stage], unit: &str, fall: &str) -> Chart {
    let (mut base, mut height, mut names, mut colours, mut texts) = (vec![], vec![], vec![], vec![], vec![]);
    let (mut level, mut top, mut hovers) = (0.0, 0.0, vec![]);
    for stage in stages {
        if stage.whole {
            level = stage.amount;
            base.push(0.0);
            height.push(level);
            colours.push("var(--series-1)");
        } else {
            let after = level + stage.amount;
            base.push(f64::min(level, after));
            height.push(stage.amount.abs());
            colours.push(if stage.amount < 0.0 { fall } else { "var(--bad)" });
            level = after;
        }
        let end = base.last().copied().unwrap_or(0.0) + height.last().copied().unwrap_or(0.0);
        top = f64::max(top, end);
        names.push(stage.short.clone());
        hovers.push(format!("{}: {}", stage.name, stage.text));
        texts.push(stage.text.clone());
    }
    let below = Bar::new(names.clone(), base)
        .marker(Marker::new().color("rgba(0,0,0,0)"))
        .hover_info(HoverInfo::Skip)
        .show_legend(false);
    let shown = Bar::new(names, height)
        .marker(Marker::new().color_array(colours.iter().map(|c| (*c).to_owned()).collect()))
        .text_array(texts)
        .text_position(TextPosition::Outside)
        .hover_text_array(hovers)
        .hover_template("%{hovertext}<extra></extra>");
    let mut plot = Plot::new();
    plot.add_trace(below);
    plot.add_trace(shown);
    plot.set_layout(
        layout()
            .bar_mode(BarMode::Stack)
            .show_legend(false)
            .x_axis(Axis::new().type_(AxisType::Category))
            .y_axis(Axis::new().title(unit.to_owned()).range(vec![0.0, top * 1.12])),
    );
    let mut grid = Grid::new(
        title,
        [
            Head::text("from the bill to the plan"),
            Head::number(format!("amount ({unit})")),
        ],
    );
    for stage in stages {
        grid.row([Cell::new(stage.name.clone()), Cell::new(stage.text.clone())]);
    }
    Chart {
        title: title.to_owned(),
        height: 320,
        json: embedded(&plot),
        table: grid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_chart_ends_its_script() {
        let hostile = "</script><script>alert(1)</script>".to_owned();
        let series = Series {
            name: hostile.clone(),
            colour: colour(&hostile, 0),
            values: vec![Some(Money::whole(1)), None],
        };
        let chart = over_time("cost", &["2026-10-01".into(), "2026-10-02".into()], &[series], "USD");
        assert!(!chart.json.contains('<'), "{}", chart.json);
        let json: serde_json::Value = serde_json::from_str(&chart.json).unwrap();
        assert_eq!(json["data"][0]["name"], hostile.as_str());
        assert_eq!(
            json["data"][0]["y"],
            serde_json::json!([1.0, null]),
            "an unknown is no zero"
        );
        assert_eq!(chart.table.rows[1].cells[1].text, "unknown");
    }

    #[test]
    fn what_is_folded_looks_like_nothing_else() {
        let style = include_str!("asset/app.css");
        let value = |name: &str| {
            style
                .split(&format!("{name}:"))
                .nth(1)
                .unwrap()
                .split(';')
                .next()
                .unwrap()
        };
        let fixed = ["unknown", "other", "(unused commitment)"].map(|label| colour(label, 0));
        let placed = (0..COLOURS.len()).map(|at| colour("a team", at));
        let all: Vec<String> = fixed.into_iter().chain(placed).collect();
        let named = |colour: &String| value(colour.trim_start_matches("var(").trim_end_matches(')'));
        let seen: std::collections::BTreeSet<&str> = all.iter().map(named).collect();
        assert_eq!(seen.len(), all.len(), "{seen:?}");
    }

    #[test]
    fn a_waterfall_begins_each_change_where_the_last_one_ended() {
        let stage = |name: &str, amount, whole| Stage {
            name: name.into(),
            amount,
            whole,
            text: String::new(),
            short: name.into(),
        };
        let stages = [
            stage("bill", 10.0, true),
            stage("stop", -4.0, false),
            stage("plan", 6.0, true),
        ];
        let json: serde_json::Value =
            serde_json::from_str(&waterfall("plan", &stages, "USD", "var(--good)").json).unwrap();
        assert_eq!(json["data"][0]["y"], serde_json::json!([0.0, 6.0, 0.0]));
        assert_eq!(json["data"][1]["y"], serde_json::json!([10.0, 4.0, 6.0]));
    }
}
