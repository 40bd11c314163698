//! The views: one file each under `sql/`, with the few places that a query fills in.

use jiff::tz::TimeZone;
use lowwater_model::period::Period;

/// A view and its text.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Its name in SQL.
    pub name: &'static str,
    /// Its text; the first line states its grain.
    pub sql: &'static str,
}

macro_rules! views {
    ($($name:ident),+ $(,)?) => {
        /// Every view, in order: each may use the ones before it.
        pub const VIEWS: &[View] = &[
            $(View { name: stringify!($name), sql: include_str!(concat!("sql/", stringify!($name), ".sql")) }),+
        ];
    };
}

views! {
    charge_days,
    local_days,
    gpu_activity,
    resource_hours,
    idle_hours,
    useful_hours,
    bill,
    owner_keys,
    owned_bill,
    gpu_lines,
    gpu_resource_traits,
    commitments,
    reconciliation,
    observed_rates,
    transfer,
    coverage_days,
    machine_services,
    contract_spend,
    running_spend,
}

/// Views whose days are either those of the day cube or the owner's, with their name in the second case.
const LOCAL: [(&str, &str); 2] = [("bill", "local_bill"), ("owned_bill", "owned_local_bill")];

impl View {
    /// What one row is, from the first line.
    pub fn grain(&self) -> &'static str {
        self.sql
            .lines()
            .next()
            .and_then(|l| l.strip_prefix("-- grain: "))
            .unwrap_or_default()
    }

    /// The view called so. A name that does not exist is a fault of ours, found by the tests.
    pub fn find(name: &str) -> Option<&'static Self> {
        VIEWS.iter().find(|v| v.name == name)
    }

    /// What stands in a session for it: its name with its text. The bill stands there twice where the owner's days are
    /// not those of the day cube, which are UTC: as `bill` by the cube's, as `local_bill` by the owner's.
    pub fn texts(&self, places: &Places) -> Vec<(&'static str, String)> {
        let Some((name, local)) = LOCAL.iter().find(|(name, _)| *name == self.name) else {
            return vec![(self.name, self.text(places))];
        };
        let cube = Places {
            zone: TimeZone::UTC,
            ..places.clone()
        };
        let mut texts = vec![(*name, self.text(&cube))];
        if !places.has_cube_days() {
            texts.push((*local, self.text(places)));
        }
        texts
    }

    /// The text with its places filled in.
    pub fn text(&self, places: &Places) -> String {
        let mut out = String::new();
        let mut rest = self.sql;
        while let Some((before, after)) = rest.split_once('{') {
            let (place, tail) = after.split_once('}').unwrap_or((after, ""));
            out.push_str(before);
            out.push_str(&places.fill(place));
            rest = tail;
        }
        out + rest
    }
}

/// What the places of a view become.
#[derive(Clone, Debug)]
pub struct Places {
    /// Zone of day buckets.
    pub zone: TimeZone,
    /// Period of queries that have one; also the stretch over which the zone's changes are known.
    pub period: Period,
    /// Seconds of an hour that must be observed for it to count as idle.
    pub min_observed_seconds: i64,
}

impl Places {
    /// Are the owner's days those of the day cube?
    pub fn has_cube_days(&self) -> bool {
        self.zone == TimeZone::UTC
    }

    fn fill(&self, place: &str) -> String {
        match place.split_once(':') {
            Some(("local", column)) => local(column, &self.zone, self.period),
            Some(("period", column)) => {
                let (start, end) = (self.period.start.as_second(), self.period.end.as_second());
                format!("{column} >= {} AND {column} < {}", instant(start), instant(end))
            }
            _ if place == "days" && self.has_cube_days() => "daily".to_owned(),
            _ if place == "days" => "local_days".to_owned(),
            _ if place == "bill" && self.has_cube_days() => "bill".to_owned(),
            _ if place == "bill" => "local_bill".to_owned(),
            _ if place == "zero" => "CAST(0 AS DECIMAL(38, 12))".to_owned(),
            _ if place == "min_observed_seconds" => self.min_observed_seconds.to_string(),
            _ => unreachable!("a view has no place `{place}`"),
        }
    }
}

/// An instant as an SQL literal.
pub fn instant(second: i64) -> String {
    let at = jiff::Timestamp::from_second(second).unwrap_or_default();
    format!("CAST('{at}' AS TIMESTAMP)")
}

/// A column of instants as civil time of a zone: plus the offset that holds between two changes of the clocks.
///
/// Plain SQL, because it runs where no function of ours is: the changes inside `period` become a CASE.
fn local(column: &str, zone: &TimeZone, period: Period) -> String {
    let mut offset = zone.to_offset(period.start).seconds();
    let mut cases = String::new();
    for change in zone.following(period.start).take_while(|t| t.timestamp() < period.end) {
        cases.push_str(&format!(
            "WHEN {column} < {} THEN INTERVAL '{offset} seconds' ",
            instant(change.timestamp().as_second())
        ));
        offset = change.offset().seconds();
    }
    match (cases.is_empty(), offset) {
        (true, 0) => column.to_owned(),
        (true, _) => format!("({column} + INTERVAL '{offset} seconds')"),
        (false, _) => format!("({column} + CASE {cases}ELSE INTERVAL '{offset} seconds' END)"),
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod text_tests {
    use super::*;

    fn places(zone: &str) -> Places {
        let at = |t: &str| t.parse().unwrap();
        Places {
            zone: TimeZone::get(zone).unwrap(),
            period: Period {
                start: at("2026-03-01T00:00:00Z"),
                end: at("2026-05-01T00:00:00Z"),
            },
            min_observed_seconds: 3000,
        }
    }

    #[test]
    fn every_view_states_its_grain_and_has_known_places() {
        for view in VIEWS {
            assert!(view.grain().len() > 10, "{} states no grain", view.name);
            assert!(!view.text(&places("Europe/Berlin")).contains('{'), "{}", view.name);
        }
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/sql"))
            .unwrap()
            .count();
        assert_eq!(files, VIEWS.len(), "a file under sql/ is not in the list");
    }

    #[test]
    fn local_time_follows_the_clocks() {
        assert_eq!(local("t", &TimeZone::UTC, places("UTC").period), "t");
        let kolkata = places("Asia/Kolkata");
        assert_eq!(
            local("t", &kolkata.zone, kolkata.period),
            "(t + INTERVAL '19800 seconds')"
        );
        let berlin = places("Europe/Berlin");
        let text = local("t", &berlin.zone, berlin.period);
        assert_eq!(
            text,
            "(t + CASE WHEN t < CAST('2026-03-29T01:00:00Z' AS TIMESTAMP) THEN INTERVAL '3600 seconds' ELSE INTERVAL '7200 seconds' END)"
        );
    }
}
