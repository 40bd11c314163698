//! A contract from its file to prices and a plan, through the commands that a user types.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::path::Path;

use common::{organisation, run, run_wide, transcript};
use serde_json::Value;

const CONTRACT: &str = "[[discount]]
provider = \"aws\"
service = \"amazon ec2\"
sku = \"g6.*\"
share = 0.12

[[minimum]]
provider = \"aws\"
amount = 2500
from = 2026-10-04
until = 2026-11-28
";

const OFFERS: &str = "provider,region,sku,market,price_per_hour,price_basis,currency,as_of,source
aws,us-east-1,g6.xlarge,1y,0.5,list,USD,2026-10-31,quote 7
aws,us-east-1,g5.2xlarge,1y,0.8,list,USD,2026-07-01,quote 7
";

fn loaded() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let data = organisation::write(dir.path());
    std::fs::write(data.join("contract.toml"), CONTRACT).unwrap();
    std::fs::write(data.join("offers.csv"), OFFERS).unwrap();
    let load = run(dir.path(), &["load", "bill.csv", "usage.csv"]);
    assert_eq!(load.code, 0, "{}", load.stderr);
    dir
}

fn json(dir: &Path, args: &[&str]) -> Value {
    let out = run(dir, &[args, &["--json"]].concat());
    assert!(out.code <= 1, "{args:?}: {}", out.stderr);
    serde_json::from_str(&out.stdout).unwrap()
}

#[test]
fn a_contract_changes_prices_and_caps_the_plan() {
    let dir = loaded();
    insta::assert_snapshot!("plan", transcript(&run_wide(dir.path(), 120, &["plan"])));
    insta::assert_snapshot!("prices", transcript(&run_wide(dir.path(), 120, &["show", "prices"])));

    let plan = json(dir.path(), &["show", "plan"]);
    let number = |value: &Value| value.as_f64().unwrap();
    let minimum = &plan["minimums"][0];
    // Everything but the tax: 672 hours of three machines, and as much again until the contract ends.
    assert_eq!(minimum["spent"]["value"], "1419.809896296288");
    let shares: f64 = plan["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| number(&step["share"]))
        .sum();
    let missing = 2500.0 - (2.0 * 1_419.809_896 - shares);
    assert!(
        missing > 0.0 && (number(&minimum["shortfall"]) - missing).abs() < 1e-4,
        "{minimum}"
    );
    assert!(
        (number(&minimum["taken"]["p50"]) - missing).abs() < 1e-4,
        "one such period is left: {minimum}"
    );
    assert!((number(&plan["saving"]["cash"]["p50"]) - (shares - missing)).abs() < 1e-4);
    let paid = 1_419.809_896 + number(&plan["planned"]["total"]) - 100.1;
    assert!(
        (paid - 2500.0).abs() < 1e-4,
        "what is paid in the end is the minimum: {paid}"
    );
}

#[test]
fn a_discount_leaves_the_age_of_a_price() {
    let dir = loaded();
    let prices = json(dir.path(), &["show", "prices"]);
    let of = |sku: &str| {
        let rows = prices.as_array().unwrap();
        rows.iter()
            .find(|row| row["sku"] == sku && row["market"] == "1y")
            .unwrap()
            .clone()
    };
    let (contracted, list) = (of("g6.xlarge"), of("g5.2xlarge"));
    assert_eq!(
        (&contracted["price_per_hour"], &contracted["basis"]),
        (&0.44.into(), &"contracted".into())
    );
    assert_eq!(
        (&contracted["as_of"], &contracted["age_days"]),
        (&"2026-10-31".into(), &1.into())
    );
    assert_eq!(
        contracted["source"],
        "list price of 2026-10-31 less 12 % (contract.toml:1); offers.csv, quote 7"
    );
    assert_eq!((&list["basis"], &list["age_days"]), (&"list".into(), &123.into()));
}

#[test]
fn doctor_names_a_discount_that_changes_no_price() {
    let dir = loaded();
    let contract = dir.path().join("lowwater-data/contract.toml");
    let found = || {
        let findings = json(dir.path(), &["doctor"]);
        let all = findings.as_array().unwrap().clone();
        all.into_iter()
            .filter(|f| {
                f["where"]
                    .as_str()
                    .is_some_and(|place| place.starts_with("contract.toml"))
            })
            .count()
    };
    assert_eq!(found(), 0);
    std::fs::write(contract, CONTRACT.replace("g6.*", "g66.*")).unwrap();
    assert_eq!(found(), 1);
}

#[test]
fn a_wrong_contract_is_named_with_its_line_and_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let data = organisation::write(dir.path());
    for (text, place) in [
        ("[[discount]]\nshare = 12\n", "contract.toml:1"),
        (
            "[[discount]]\nshare = 0.1\n\n[[discount]]\nshare = 0.2\n",
            "contract.toml:4",
        ),
        ("[[discount]]\nshare = 0.1\nregion = \"x\"\n", "contract.toml:3"),
    ] {
        std::fs::write(data.join("contract.toml"), text).unwrap();
        let out = run(dir.path(), &["offers"]);
        assert_eq!(out.code, 3, "{}", out.stderr);
        assert!(
            out.stderr.contains(place) && out.stderr.contains("\nhint: "),
            "{}",
            out.stderr
        );
    }
}
