use std::path::Path;

use jiff::civil::Date;
use lowwater_model::facts::Facts;
use lowwater_model::offer::{Market, PriceBasis, PriceKey};
use proptest::prelude::*;

use super::*;
use crate::sample::{Line, focus_csv, load_text, open};

/// `count` days from that day on with a machine that runs round the clock for so much an hour.
fn days(from: &str, count: i64, price: &str) -> Vec<Line> {
    let start: Timestamp = format!("{from}T00:00:00Z").parse().unwrap();
    let hour = |h: i64| start + jiff::SignedDuration::from_hours(h);
    (0..count * 24)
        .map(|h| Line::hour("i-1", "g5.2xlarge", hour(h), price))
        .collect()
}

fn store_of(lines: &[Line], contract: &str) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    load_text(dir.path(), "bill.csv", &focus_csv(lines));
    std::fs::write(dir.path().join("contract.toml"), contract).unwrap();
    let store = open(dir.path());
    (dir, store)
}

fn offers(dir: &Path, rows: &str) {
    let header = "provider,region,sku,market,price_per_hour,price_basis,currency,as_of,source\n";
    std::fs::write(dir.join("offers.csv"), format!("{header}{rows}")).unwrap();
}

fn price(facts: &Facts, sku: &str, market: Market) -> Offer {
    let key = PriceKey {
        cloud: "aws",
        region: "us-east-1",
        sku,
        market,
    };
    let day: Date = TimeZone::UTC.to_datetime(facts.as_of).date();
    facts.prices.find(&key, day).value().unwrap().clone()
}

const DISCOUNT: &str =
    "# agreed\n[[discount]]\nprovider = \"AWS\"\nservice = \"ec2\"\nshare = 0.12\nfrom = 2026-10-01\n";

#[test]
fn list_prices_are_discounted_and_what_the_bill_shows_is_not() {
    let (dir, _) = store_of(&days("2026-10-01", 3, "1.212"), DISCOUNT);
    offers(
        dir.path(),
        "aws,us-east-1,p5.48xlarge,1y,50,list,USD,2026-09-30,quote\naws,us-east-1,p5.48xlarge,3y,30,net,USD,2026-09-30,quote\n",
    );
    let facts = open(dir.path()).facts(None).unwrap();
    let list = price(&facts, "p5.48xlarge", Market::OneYear);
    assert_eq!((list.rate.0, list.basis), (44.0, PriceBasis::Contracted));
    assert_eq!(
        list.as_of.to_string(),
        "2026-09-30",
        "a discount does not make a price new"
    );
    assert_eq!(
        list.source,
        "list price of 2026-09-30 less 12 % (contract.toml:2); offers.csv, quote"
    );
    assert_eq!(price(&facts, "p5.48xlarge", Market::ThreeYears).basis, PriceBasis::Net);
    let built_in = price(&facts, "p4d.24xlarge", Market::OnDemand);
    assert_eq!(
        (built_in.rate.0, built_in.basis),
        (19.322_724_96, PriceBasis::Contracted)
    );
    assert!(
        built_in
            .list
            .is_some_and(|list| list.basis == PriceBasis::BuiltIn && list.rate.0 == 21.957_642)
    );
    let observed = price(&facts, "g5.2xlarge", Market::OnDemand);
    assert_eq!((observed.rate.0, observed.basis), (1.212, PriceBasis::Observed));
}

#[test]
fn a_discount_is_of_the_day_on_which_prices_are_looked_at() {
    let contract = DISCOUNT.replace("2026-10-01", "2026-10-03");
    let (_dir, store) = store_of(&days("2026-10-01", 3, "1.212"), &contract);
    let basis = |at: &str| {
        let facts = store.facts(Some(at.parse().unwrap())).unwrap();
        price(&facts, "p4d.24xlarge", Market::OnDemand).basis
    };
    assert_eq!(basis("2026-10-02T00:00:00Z"), PriceBasis::BuiltIn);
    assert_eq!(basis("2026-10-03T00:00:00Z"), PriceBasis::Contracted);
}

#[test]
fn a_discount_that_changes_no_price_is_told_with_its_line() {
    let misspelt = format!("{DISCOUNT}\n[[discount]]\nservice = \"EC3\"\nshare = 0.1\n");
    let (_dir, store) = store_of(&days("2026-10-01", 1, "1"), &misspelt);
    let warnings = store
        .contract_warnings("2026-10-02T00:00:00Z".parse().unwrap())
        .unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("contract.toml:8: this discount is on no list price"),
        "{warnings:?}"
    );
}

#[test]
fn every_byte_of_the_contract_is_in_the_facts_id() {
    let (dir, store) = store_of(&days("2026-10-01", 2, "1"), DISCOUNT);
    let before = store.facts_id(None).unwrap();
    std::fs::write(dir.path().join("contract.toml"), DISCOUNT.replace("0.12", "0.13")).unwrap();
    assert_ne!(open(dir.path()).facts_id(None).unwrap(), before);
}

fn minimum(more: &str) -> String {
    format!("[[minimum]]\nprovider = \"amazon\"\namount = 5000\nfrom = 2026-10-02\nuntil = 2026-12-31\n{more}")
}

fn spent(store: &Store, at: &str) -> Known<Money> {
    let facts = store.facts(Some(at.parse().unwrap())).unwrap();
    facts.minimums[0].spent.clone()
}

/// Five days at 24 an day, a tax, and a purchase that is paid once on the third day.
fn bill() -> Vec<Line> {
    let mut lines = days("2026-10-01", 5, "1");
    let mut tax = lines[60].clone();
    (tax.category, tax.resource, tax.sku, tax.billed) = ("Tax", String::new(), "", "77".into());
    let mut purchase = lines[60].clone();
    (purchase.category, purchase.commitment, purchase.sku) = ("Purchase", "ri-1", "");
    (purchase.billed, purchase.effective) = ("1000".into(), "0".into());
    let mut covered = lines[70].clone();
    (covered.pricing, covered.commitment, covered.status) = ("Committed", "ri-1", "Used");
    (covered.billed, covered.effective) = ("0".into(), "0.5".into());
    lines.extend([tax, purchase, covered]);
    lines
}

#[test]
fn spend_counts_from_the_contracts_first_day_without_taxes() {
    let (_dir, store) = store_of(&bill(), &minimum(""));
    assert_eq!(
        spent(&store, "2026-10-02T00:00:00Z"),
        Known::Value(Money::ZERO),
        "it begins"
    );
    assert_eq!(spent(&store, "2026-10-03T00:00:00Z"), Known::Value(Money::whole(24)));
    assert_eq!(
        spent(&store, "2026-10-06T00:00:00Z"),
        Known::Value(Money::whole(96 + 1000))
    );
    let facts = store.facts(None).unwrap();
    assert_eq!(facts.minimums.len(), 1);
    assert_eq!(
        (facts.minimums[0].cloud.as_str(), facts.minimums[0].source.as_str()),
        ("aws", "contract.toml:1")
    );
}

/// The purchase of the sample names no frequency; this one says that it was paid once.
#[test]
fn what_is_paid_once_does_not_go_on() {
    let once = |frequency: &str| {
        let text = focus_csv(&bill());
        let mut rows = text.lines();
        let mut out = format!("{},ChargeFrequency\n", rows.next().unwrap());
        for row in rows {
            let frequency = if row.contains("Purchase") {
                frequency
            } else {
                "Usage-Based"
            };
            out.push_str(&format!("{row},{frequency}\n"));
        }
        let dir = tempfile::tempdir().unwrap();
        load_text(dir.path(), "bill.csv", &out);
        std::fs::write(dir.path().join("contract.toml"), minimum("")).unwrap();
        open(dir.path()).facts(None).unwrap().minimums[0].pace
    };
    assert_eq!(
        once("Recurring"),
        Money::whole(120) + Money::parse("0.5").unwrap(),
        "amortised"
    );
    assert_eq!(once("One-Time"), Money::whole(120));
}

#[test]
fn what_the_owner_knows_goes_before_the_bill() {
    let declared = minimum("spent = \"400.50\"\nspent_until = 2026-10-03\n");
    let (_dir, store) = store_of(&bill(), &declared);
    assert_eq!(
        spent(&store, "2026-10-06T00:00:00Z"),
        Known::Value(Money::parse("448.5").unwrap())
    );
    assert_eq!(
        spent(&store, "2026-10-04T00:00:00Z"),
        Known::Value(Money::parse("400.5").unwrap())
    );
    assert_eq!(
        spent(&store, "2026-10-03T00:00:00Z"),
        Known::Value(Money::whole(24)),
        "a plan of that day can not know it"
    );
}

#[test]
fn a_bill_that_begins_after_the_contract_leaves_its_spend_unknown() {
    let why = |contract: &str| match spent(&store_of(&bill(), contract).1, "2026-10-06T00:00:00Z") {
        Known::Unknown(why) => why,
        Known::Value(spent) => panic!("{spent}"),
    };
    let early = minimum("").replace("2026-10-02", "2026-01-01");
    assert_eq!(
        why(&early),
        "the bill of aws begins on 2026-10-01, after 2026-01-01; write `spent` and `spent_until` at contract.toml:1"
    );
    assert!(why(&minimum("").replace("amazon", "gcp")).starts_with("the bill shows nothing of gcp; write `spent`"));
    let declared = format!("{early}spent = 9000\nspent_until = 2026-09-30\n");
    let (_dir, store) = store_of(&bill(), &declared);
    assert_eq!(
        spent(&store, "2026-10-06T00:00:00Z"),
        Known::Value(Money::whole(9000 + 120 + 1000))
    );
}

#[test]
fn a_contract_that_is_over_is_left_out() {
    let over = minimum("").replace("2026-12-31", "2026-10-05");
    let (_dir, store) = store_of(&bill(), &over);
    assert_eq!(store.facts(None).unwrap().minimums, []);
    let earlier = store.facts(Some("2026-10-05T00:00:00Z".parse().unwrap())).unwrap();
    assert_eq!(earlier.minimums.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5))]

    /// The same sum by adding the lines: whatever was declared, and wherever the contract begins.
    #[test]
    fn spend_is_the_sum_of_its_lines(first in 1..6_i64, declared in prop::option::of((0..5_i64, 0..900_i64)), at in 2..7_i64) {
        let lines = bill();
        let day = |d: i64| format!("2026-10-{d:02}");
        let declared = declared.map(|(after, amount)| (first + after, amount)).filter(|(until, _)| *until < 30);
        let more = declared.map_or_else(String::new, |(until, amount)| format!("spent = {amount}\nspent_until = {}\n", day(until)));
        let (_dir, store) = store_of(&lines, &minimum(&more).replacen("2026-10-02", &day(first), 1));
        let (before, from) = match declared {
            Some((until, amount)) if until < at => (amount, until + 1),
            _ => (0, first),
        };
        let (from, to) = (format!("{}T", day(from)), format!("{}T", day(at)));
        let counted: Money = lines
            .iter()
            .filter(|line| line.category != "Tax" && line.start >= from && line.start < to)
            .map(|line| Money::parse(&line.billed).unwrap())
            .sum();
        prop_assert_eq!(spent(&store, &format!("{}T00:00:00Z", day(at))), Known::Value(Money::whole(before) + counted));
    }
}
