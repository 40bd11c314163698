//! The published development-fleet table: which of its rows follow from a calendar, and the right numbers of those
//! that do not; and every month of the calendar table.

use std::collections::BTreeSet;

use jiff::civil::{Date, time};
use jiff::tz::TimeZone;
use lowwater_model::change::Change;
use lowwater_model::change::set_schedule::SetSchedule;
use lowwater_model::facts::Facts;
use lowwater_model::money::Money;
use lowwater_model::period::{Hour, Period};
use lowwater_model::schedule::{DAYS, Schedule, Window};

use crate::replay::Replay;
use crate::{sample, shared};

fn window(first: usize, last: usize, start: i8, end: i8) -> Window {
    let days = (first..=last).map(|day| DAYS[day].into()).collect();
    Window {
        days,
        start: time(start, 0, 0, 0),
        end: time(end % 24, 0, 0, 0),
    }
}

fn schedule(zone: &str, windows: Vec<Window>) -> Schedule {
    Schedule {
        zone: zone.into(),
        windows,
        holidays: None,
        holiday_dates: BTreeSet::new(),
    }
}

/// On from Monday 09:00 to Friday 18:00.
fn weekend_off(zone: &str) -> Schedule {
    schedule(
        zone,
        vec![window(0, 0, 9, 24), window(1, 3, 0, 24), window(4, 4, 0, 18)],
    )
}

fn saturday_and_sunday_off(zone: &str) -> Schedule {
    schedule(zone, vec![window(0, 4, 0, 24)])
}

fn business_hours(zone: &str, start: i8) -> Schedule {
    schedule(zone, vec![window(0, 4, start, 18)])
}

/// A local month.
fn month(zone: &str, first: Date) -> Period {
    let zone = TimeZone::get(zone).unwrap();
    let at = |day: Date| zone.to_timestamp(day.at(0, 0, 0, 0)).unwrap();
    Period {
        start: at(first),
        end: at(first.last_of_month().tomorrow().unwrap()),
    }
}

/// Fifty g5.2xlarge at 1.21 an hour, always on and always idle: only the calendar decides.
fn fleet(period: Period) -> Facts {
    let days = period.seconds() / 86_400 + 1;
    let mut facts = sample::facts(&format!(
        "as_of = \"{}\"\nhistory_days = {days}\nreplay_days = {days}\n[[resource]]\nid = \"nb-{{}}\"\ncount = 50\n\
         sku = \"g5.2xlarge\"\nclass = \"development\"\nworkload = \"nb\"\nline = [{{ rate = \"1.21\" }}]\n\
         use = [{{ idle = true, memory = 0, power = 20 }}]",
        period.end
    ));
    for resource in &mut facts.resources {
        let run = &mut resource.lines[0].runs[0];
        (run.start, run.hours) = (Hour::of(period.start), (period.seconds() / 3600) as u32);
    }
    (facts.history, facts.period) = (period, period);
    facts.ledger.total = sample::cost_of(facts.resources.iter(), period);
    facts
}

/// Hours and money that are left when the fleet runs on the schedule.
fn replayed(facts: &Facts, schedule: Option<Schedule>) -> (f64, String) {
    let mut replay = Replay::of(facts);
    if let Some(schedule) = schedule {
        let resources = facts.resources.iter().map(|r| r.id.clone()).collect();
        replay = replay.with(&Change::SetSchedule(SetSchedule {
            workload: "nb".into(),
            resources,
            schedule,
            capacity_risk: None,
        }));
    }
    let hours: f64 = facts.resources.iter().map(|r| replay.remaining(&r.id).hours()).sum();
    (hours, format!("{:.2}", replay.bill().total.amount()))
}

fn april() -> Facts {
    fleet(month("UTC", "2026-04-01".parse().unwrap()))
}

fn november() -> Facts {
    fleet(month("UTC", "2026-11-01".parse().unwrap()))
}

#[test]
fn always_on_follows() {
    assert_eq!(replayed(&april(), None), (36_000.0, "43560.00".into()));
    assert_eq!(replayed(&november(), None), (36_000.0, "43560.00".into()));
}

/// Published: 25,200 hours, 30,492 dollars, "off from Friday 18:00 to Monday 09:00".
#[test]
fn the_weekend_row_does_not_follow_from_its_rule() {
    assert_eq!(
        replayed(&april(), Some(weekend_off("UTC"))),
        (23_400.0, "28314.00".into())
    );
    assert_eq!(
        replayed(&november(), Some(weekend_off("UTC"))),
        (21_750.0, "26317.50".into())
    );
    // It follows from Saturday and Sunday off in a month of 30 days with 21 working days.
    assert_eq!(
        replayed(&november(), Some(saturday_and_sunday_off("UTC"))),
        (25_200.0, "30492.00".into())
    );
    assert_eq!(
        replayed(&april(), Some(saturday_and_sunday_off("UTC"))),
        (26_400.0, "31944.00".into())
    );
}

/// Published: 9,900 hours, 11,979 dollars.
#[test]
fn the_business_hours_row_follows_in_a_month_that_the_weekend_row_excludes() {
    assert_eq!(
        replayed(&april(), Some(business_hours("UTC", 9))),
        (9_900.0, "11979.00".into())
    );
    assert_eq!(
        replayed(&november(), Some(business_hours("UTC", 9))),
        (9_450.0, "11434.50".into())
    );
}

/// Published: 5,940 hours by idle detection that "saves 30 %". Six tenths of 9,900 are left, so it saved 40 %; no
/// calendar says that, and thirty percent off would leave 6,930 hours and 8,385.30 dollars.
#[test]
fn the_idle_row_is_no_calendar() {
    let facts = april();
    let (business, _) = replayed(&facts, Some(business_hours("UTC", 9)));
    let rate = Money::parse("1.21").unwrap();
    let cost = |hours: f64| rate.times(hours as i64).fixed(2);
    assert_eq!((business * 0.6, cost(business * 0.6)), (5_940.0, "7187.40".into()));
    assert_eq!((business * 0.7, cost(business * 0.7)), (6_930.0, "8385.30".into()));
    let saved = facts.ledger.total - rate.times(5_940);
    assert_eq!(
        (saved.fixed(2), saved.times(12).fixed(2)),
        ("36372.60".into(), "436471.20".into()),
        "published: 36,373 and 436,476"
    );
}

/// Published: a weekend is 63 hours and 76 dollars; four of them in twelve months with fifty machines are 182,400.
#[test]
fn a_weekend_has_63_hours_unless_the_clocks_change() {
    let off = |zone: &str, friday: &str| {
        let zone_rules = TimeZone::get(zone).unwrap();
        let friday: Date = friday.parse().unwrap();
        let at = |day: Date| zone_rules.to_timestamp(day.at(12, 0, 0, 0)).unwrap();
        let weekend = Period {
            start: at(friday),
            end: at(friday.tomorrow().unwrap().tomorrow().unwrap().tomorrow().unwrap()),
        };
        weekend_off(zone).stopped(weekend).hours()
    };
    assert_eq!(off("UTC", "2026-10-23"), 63.0);
    assert_eq!(off("Europe/Berlin", "2026-03-27"), 62.0);
    assert_eq!(off("America/New_York", "2026-10-30"), 64.0);
    let weekend = Money::parse("1.21").unwrap().times(63);
    assert_eq!(weekend.fixed(2), "76.23");
    assert_eq!(weekend.times(50 * 48).fixed(2), "182952.00");
    assert_eq!(
        weekend.times(50 * 52).fixed(2),
        "198198.00",
        "a year has 52 weekends, not 48"
    );
}

#[test]
fn every_month_of_the_calendar_table() {
    let Some(rows) = shared::rows("governance/schedules/calendar_hours_2026_expected.csv") else {
        return;
    };
    assert_eq!(rows.len(), 24);
    for row in rows {
        let zone = row["tz"].as_str();
        let period = month(zone, format!("{}-01", row["month"]).parse().unwrap());
        let facts = fleet(period);
        let columns = [
            ("total", "h_total", None),
            ("weekend63_off", "h_on_weekend63_off", Some(weekend_off(zone))),
            ("satsun_off", "h_on_satsun_off", Some(saturday_and_sunday_off(zone))),
            ("mon_fri_09_18", "h_mon_fri_09_18", Some(business_hours(zone, 9))),
            ("mon_fri_08_18", "h_mon_fri_08_18", Some(business_hours(zone, 8))),
        ];
        for (name, column, schedule) in columns {
            let running = schedule
                .as_ref()
                .map_or(period.hours(), |schedule| schedule.running(period).hours());
            assert_eq!(running.to_string(), row[column], "{zone} {} {column}", row["month"]);
            let (hours, _) = replayed(&facts, schedule);
            assert_eq!(
                hours.to_string(),
                row[&format!("inst50_{name}")],
                "{zone} {} fifty, {name}",
                row["month"]
            );
        }
    }
}
