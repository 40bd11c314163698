//! What several views say of a resource.

use lowwater_model::facts::{CostLine, LineKind, Resource};
use lowwater_model::money::Money;
use lowwater_model::period::Period;

/// Cost of a line in the whole hours of a period.
pub fn line_cost(line: &CostLine, period: &Period) -> Money {
    let range = period.hour_range();
    let inside = |run: &lowwater_model::facts::CostRun| run.end().0.min(range.end) - run.start.0.max(range.start);
    line.runs.iter().map(|run| run.cost.times(inside(run).max(0))).sum()
}

/// Billed hours of a line in the whole hours of a period: parts of an hour count as parts.
pub fn line_hours(line: &CostLine, period: &Period) -> f64 {
    let range = period.hour_range();
    let seconds = |run: &lowwater_model::facts::CostRun| {
        (run.end().0.min(range.end) - run.start.0.max(range.start)).max(0) * i64::from(run.seconds)
    };
    line.runs.iter().map(seconds).sum::<i64>() as f64 / 3600.0
}

/// Cost of a resource in a period, disks and all.
pub fn cost(resource: &Resource, period: &Period) -> Money {
    resource.lines.iter().map(|l| line_cost(l, period)).sum()
}

/// What of it ends when the resource stops.
pub fn compute_cost(resource: &Resource, period: &Period) -> Money {
    resource
        .lines
        .iter()
        .filter(|l| l.kind == LineKind::Compute)
        .map(|l| line_cost(l, period))
        .sum()
}

/// Was any hour of the period observed?
pub fn is_observed(resource: &Resource, period: &Period) -> bool {
    resource
        .usage
        .iter()
        .any(|(hour, _)| period.hour_range().contains(&hour.0))
}

/// `name (id)`, or the id alone.
pub fn name(resource: &Resource) -> String {
    match &resource.name {
        Some(name) if *name != resource.id.as_str() => format!("{name} ({})", resource.id),
        _ => resource.id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;
    use lowwater_model::facts::CostRun;
    use lowwater_model::period::Hour;

    #[test]
    fn only_hours_inside_the_period_count() {
        let mut resource = sample::resource("i-0aaa");
        let run = |start, hours, seconds| CostRun {
            start: Hour(start),
            hours,
            cost: Money::whole(2),
            seconds,
        };
        resource.lines[0].runs = vec![run(0, 10, 3600), run(10, 5, 1800)];
        let period = Period::from_seconds(5 * 3600, 12 * 3600);
        assert_eq!(cost(&resource, &period), Money::whole(2 * 7));
        assert_eq!(line_hours(&resource.lines[0], &period), 5.0 + 1.0);
        resource.lines[0].kind = LineKind::Other;
        assert_eq!(compute_cost(&resource, &period), Money::ZERO);
    }

    #[test]
    fn names() {
        let mut resource = sample::resource("i-0aaa");
        resource.name = Some("notebook-1".into());
        assert_eq!(name(&resource), "notebook-1 (i-0aaa)");
        resource.name = Some("i-0aaa".into());
        assert_eq!(name(&resource), "i-0aaa");
    }
}
