//! Spot markets for the facts: prices from offers, interruptions from jobs that were seen to be taken back, else from the
//! owner's `spot.csv`.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use lowwater_model::job::{ExitState, JobRun};
use lowwater_model::known::Known;
use lowwater_model::offer::{Market, Offer, PriceBook};
use lowwater_model::spot::{Likely, SpotMarket, SpotPlace};

/// What was seen longer ago says nothing of interruptions: markets and their types have changed.
const OLD_DAYS: i64 = 365;
/// Machine-hours on spot from which the rate that jobs saw counts: fewer say nothing of what comes once in days.
const ENOUGH_HOURS: f64 = 200.0;
/// Prices of a place from which their lowest and highest are the ends of what is likely.
const ENOUGH_PRICES: usize = 20;
/// Spot prices of one place move about so far either way where fewer were seen.
const FEW_PRICES: (f64, f64) = (0.8, 1.3);

/// A row of `spot.csv`: how often an instance type is taken back in a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Interruptions {
    /// Cloud id.
    pub cloud: String,
    /// FOCUS RegionId.
    pub region: String,
    /// Zone; empty = every zone of the region.
    pub zone: String,
    /// Instance type.
    pub sku: String,
    /// Interruptions of one running instance, an hour.
    pub per_hour: Likely,
    /// Hours until capacity is back, which are not billed.
    pub wait_hours: f64,
    /// Last day on which it was seen.
    pub as_of: Date,
    /// Trace, feed or experience.
    pub source: String,
}

/// Every spot market with a price, as known at an instant.
pub(crate) fn markets(
    prices: &PriceBook,
    written: &[Interruptions],
    jobs: &[JobRun],
    at: Timestamp,
) -> Vec<SpotMarket> {
    let day = TimeZone::UTC.to_datetime(at).date();
    let mut places: BTreeMap<SpotPlace, Vec<&Offer>> = BTreeMap::new();
    for offer in prices
        .0
        .iter()
        .filter(|o| o.market == Market::Spot && o.as_of <= day && !o.region.as_str().is_empty())
    {
        let place = SpotPlace {
            cloud: offer.cloud.clone(),
            region: offer.region.clone(),
            zone: Some(offer.zone.clone()).filter(|z| !z.is_empty()),
            sku: offer.sku.clone(),
        };
        places.entry(place).or_default().push(offer);
    }
    places
        .into_iter()
        .filter_map(|(place, offers)| market(place, &offers, written, jobs, at))
        .collect()
}

fn market(
    place: SpotPlace,
    offers: &[&Offer],
    written: &[Interruptions],
    jobs: &[JobRun],
    at: Timestamp,
) -> Option<SpotMarket> {
    let newest = offers.iter().min_by_key(|o| o.rank())?;
    let day = TimeZone::UTC.to_datetime(at).date();
    let row = written
        .iter()
        .filter(|row| row.as_of <= day && is_at(row, &place))
        .max_by_key(|row| (!row.zone.is_empty(), row.as_of));
    let age = |row: &Interruptions| i64::from((day - row.as_of).get_days());
    // How long capacity stays away stands in spot.csv alone: without its row that is unknown, not nothing.
    let (interruptions, said) = match (seen(jobs, &place, at), row) {
        (Some((rate, said)), Some(_)) => (Known::Value(rate), said),
        (None, Some(row)) if age(row) > OLD_DAYS => (
            Known::unknown(format!(
                "spot.csv saw how often it is taken back on {}, {} days ago; what is older than a year says nothing",
                row.as_of,
                age(row)
            )),
            String::new(),
        ),
        (None, Some(row)) => (
            Known::Value(row.per_hour),
            format!("spot.csv of {}, {} days old, {}", row.as_of, age(row), row.source),
        ),
        (Some(_), None) => (
            Known::unknown("no row of spot.csv says how long it stays away once it is taken back (wait_hours)"),
            String::new(),
        ),
        (None, None) => (
            Known::unknown("neither jobs nor spot.csv say how often it is taken back"),
            String::new(),
        ),
    };
    let from = if said.is_empty() {
        String::new()
    } else {
        format!("; interruptions: {said}")
    };
    let (rate, ends) = price(offers, newest);
    Some(SpotMarket {
        rate,
        interruptions_per_hour: interruptions,
        wait_hours: row.map_or(0.0, |row| row.wait_hours),
        currency: newest.currency.clone(),
        as_of: newest.as_of,
        source: format!("{}; {ends}{from}", newest.source),
        place,
    })
}

fn is_at(row: &Interruptions, place: &SpotPlace) -> bool {
    row.cloud == place.cloud
        && row.region == place.region.as_str()
        && (row.zone.is_empty() || Some(&row.zone) == place.zone.as_ref())
        && row.sku.eq_ignore_ascii_case(place.sku.as_str())
}

/// The newest price between the lowest and the highest that was seen there, and how its ends are known. A few prices say
/// little of how far they move: then it is at least so far either way as spot prices do.
fn price(offers: &[&Offer], newest: &Offer) -> (Likely, String) {
    let rates: Vec<f64> = offers
        .iter()
        .filter(|o| o.currency == newest.currency)
        .map(|o| o.rate.0)
        .collect();
    let middle = newest.rate.0;
    let (low, high) = (
        rates.iter().copied().fold(middle, f64::min),
        rates.iter().copied().fold(middle, f64::max),
    );
    if rates.len() >= ENOUGH_PRICES {
        return (
            Likely { low, middle, high },
            format!("ends as {} prices were seen", rates.len()),
        );
    }
    let likely = Likely {
        low: low.min(middle * FEW_PRICES.0),
        middle,
        high: high.max(middle * FEW_PRICES.1),
    };
    let (down, up) = FEW_PRICES;
    let noun = if rates.len() == 1 { "price was" } else { "prices were" };
    (
        likely,
        format!(
            "{} {noun} seen, so its ends are assumed at {down} to {up} times at least",
            rates.len()
        ),
    )
}

/// Interruptions an hour that jobs on spot saw there, with ends of about 80 % by the square root of their number.
fn seen(jobs: &[JobRun], place: &SpotPlace, at: Timestamp) -> Option<(Likely, String)> {
    let oldest = at - SignedDuration::from_hours(24 * OLD_DAYS);
    let here = jobs.iter().filter(|run| {
        run.market == Some(Market::Spot)
            && run.start.is_some_and(|start| start >= oldest)
            && run
                .sku
                .as_deref()
                .is_some_and(|sku| sku.eq_ignore_ascii_case(place.sku.as_str()))
            && run
                .region
                .as_deref()
                .is_some_and(|region| region == place.region.as_str())
    });
    let (mut hours, mut taken, mut runs) = (0.0, 0.0, 0_u32);
    for run in here {
        // A run of unknown size or start says nothing of machine-hours.
        let (Some(start), Some(count)) = (run.start, run.count) else {
            continue;
        };
        let end = run.end.unwrap_or(at).min(at).max(start);
        hours += count * end.duration_since(start).as_secs_f64() / 3600.0;
        taken += f64::from(u8::from(
            run.exit == ExitState::Preempted && run.end.is_some_and(|end| end <= at),
        ));
        runs += 1;
    }
    if hours < ENOUGH_HOURS {
        return None;
    }
    // 1.28 standard deviations of a Poisson count either way; none seen still allows for a few.
    let spread = 1.28 * f64::max(taken, 1.0).sqrt();
    let rate = |count: f64| count.max(0.0) / hours;
    let likely = Likely {
        low: rate(taken - spread),
        middle: rate(taken),
        high: rate(taken + spread),
    };
    Some((
        likely,
        format!("{taken:.0} in {hours:.0} machine-hours of {runs} runs on spot"),
    ))
}

#[cfg(test)]
mod tests {
    use lowwater_model::offer::PriceBasis;
    use lowwater_model::unit::HourlyRate;

    use super::*;

    fn at() -> Timestamp {
        "2026-11-01T00:00:00Z".parse().unwrap()
    }

    fn offer(zone: &str, rate: f64, as_of: &str) -> Offer {
        Offer {
            cloud: "aws".into(),
            region: "us-east-1".into(),
            zone: zone.into(),
            sku: "p4d.24xlarge".into(),
            list: None,
            holds: None,
            market: Market::Spot,
            rate: HourlyRate(rate),
            currency: "USD".into(),
            basis: PriceBasis::List,
            as_of: as_of.parse().unwrap(),
            source: "offers.csv".into(),
        }
    }

    fn written(zone: &str, middle: f64, as_of: &str) -> Interruptions {
        Interruptions {
            cloud: "aws".into(),
            region: "us-east-1".into(),
            zone: zone.into(),
            sku: "P4D.24xlarge".into(),
            per_hour: Likely {
                low: middle / 2.0,
                middle,
                high: middle * 2.0,
            },
            wait_hours: 0.5,
            as_of: as_of.parse().unwrap(),
            source: "trace".into(),
        }
    }

    fn run(hours: i64, exit: ExitState) -> JobRun {
        let start: Timestamp = "2026-10-01T00:00:00Z".parse().unwrap();
        JobRun {
            job: "j".into(),
            workload: None,
            submitted: None,
            start: Some(start),
            end: Some(start + SignedDuration::from_hours(hours)),
            sku: Some("p4d.24xlarge".into()),
            count: Some(2.0),
            gpus: Some(16.0),
            region: Some("us-east-1".into()),
            market: Some(Market::Spot),
            exit,
            checkpoints: None,
            last_checkpoint: None,
            restarts: None,
            nodes: vec![],
        }
    }

    #[test]
    fn prices_make_markets_and_nothing_is_seen_after_the_instant() {
        let book = PriceBook(vec![
            offer("a", 8.0, "2026-10-01"),
            offer("a", 10.0, "2026-10-20"),
            offer("a", 99.0, "2026-12-01"),
        ]);
        let found = markets(&book, &[], &[], at());
        assert_eq!(found.len(), 1);
        let likely = |low, middle, high| Likely { low, middle, high };
        assert_eq!(found[0].rate, likely(8.0, 10.0, 13.0));
        assert!(
            found[0].source.contains("2 prices were seen, so its ends are assumed"),
            "{}",
            found[0].source
        );
        assert!(matches!(found[0].interruptions_per_hour, Known::Unknown(_)));
        let far = [
            offer("a", 2.0, "2026-10-01"),
            offer("a", 40.0, "2026-10-02"),
            offer("a", 10.0, "2026-10-20"),
        ];
        assert_eq!(
            markets(&PriceBook(far.into()), &[], &[], at())[0].rate,
            likely(2.0, 10.0, 40.0)
        );
        let one = markets(&PriceBook(vec![offer("", 10.0, "2026-10-20")]), &[], &[], at());
        assert_eq!((one[0].rate, &one[0].place.zone), (likely(8.0, 10.0, 13.0), &None));
        let many = (0..30).map(|day| offer("a", 10.0 + f64::from(day % 3), "2026-10-01"));
        let many = markets(&PriceBook(many.collect()), &[], &[], at());
        assert_eq!(many[0].rate, likely(10.0, 10.0, 12.0));
        assert!(
            many[0].source.contains("ends as 30 prices were seen"),
            "{}",
            many[0].source
        );
    }

    #[test]
    fn the_rate_of_the_zone_goes_over_that_of_the_region_and_jobs_over_both() {
        let book = PriceBook(vec![offer("a", 8.0, "2026-10-01")]);
        let rows = [
            written("", 0.1, "2026-10-30"),
            written("a", 0.2, "2026-10-01"),
            written("b", 0.9, "2026-10-01"),
            written("a", 0.7, "2026-12-01"),
        ];
        let rate = |jobs: &[JobRun]| match &markets(&book, &rows, jobs, at())[0].interruptions_per_hour {
            Known::Value(rate) => *rate,
            Known::Unknown(why) => panic!("{why}"),
        };
        assert_eq!(rate(&[]).middle, 0.2);
        // 2 machines x 60 h x 2 runs = 240 machine-hours, one of the runs was taken back.
        let seen = rate(&[run(60, ExitState::Preempted), run(60, ExitState::Completed)]);
        assert_eq!(seen.middle, 1.0 / 240.0);
        assert!(seen.is_sound() && seen.low == 0.0 && seen.high > 2.0 / 240.0);
        assert_eq!(
            rate(&[run(60, ExitState::Preempted)]).middle,
            0.2,
            "too few hours to say"
        );
        let mut uncounted = [run(60, ExitState::Preempted), run(60, ExitState::Preempted)];
        uncounted[0].count = None;
        uncounted[1].region = None;
        assert_eq!(
            rate(&uncounted).middle,
            0.2,
            "a run of unknown size or place says nothing"
        );
    }

    #[test]
    fn a_rate_without_a_wait_is_unknown() {
        let book = PriceBook(vec![offer("a", 8.0, "2026-10-01")]);
        let jobs = [run(60, ExitState::Preempted), run(60, ExitState::Completed)];
        let found = &markets(&book, &[], &jobs, at())[0].interruptions_per_hour;
        assert!(
            matches!(found, Known::Unknown(why) if why.contains("wait_hours")),
            "{found:?}"
        );
    }

    #[test]
    fn what_was_seen_years_ago_says_nothing() {
        let book = PriceBook(vec![offer("", 8.0, "2026-10-01")]);
        let of = |rows: &[Interruptions], jobs: &[JobRun]| markets(&book, rows, jobs, at()).remove(0);
        let row = |as_of: &str| Interruptions {
            cloud: "aws".into(),
            region: "us-east-1".into(),
            zone: String::new(),
            sku: "p4d.24xlarge".into(),
            per_hour: Likely {
                low: 0.01,
                middle: 0.02,
                high: 0.04,
            },
            wait_hours: 1.0,
            as_of: as_of.parse().unwrap(),
            source: "trace".into(),
        };
        let fresh = of(&[row("2026-09-20")], &[]);
        assert!(
            fresh.source.contains("spot.csv of 2026-09-20, 42 days old, trace"),
            "{}",
            fresh.source
        );
        assert!(fresh.interruptions_per_hour.value().is_some());
        let old = of(&[row("2001-09-20")], &[]);
        assert!(matches!(&old.interruptions_per_hour, Known::Unknown(why) if why.contains("2001-09-20")));
        let ancient = JobRun {
            start: Some("2020-01-01T00:00:00Z".parse().unwrap()),
            end: Some("2020-03-01T00:00:00Z".parse().unwrap()),
            ..run(500, ExitState::Preempted)
        };
        assert!(
            of(&[row("2001-09-20")], &[ancient])
                .interruptions_per_hour
                .value()
                .is_none()
        );
    }
}
