//! A tiny organisation from its files to a plan, through the commands that a user types.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::path::Path;
use std::sync::OnceLock;

use common::{organisation, run, run_wide, transcript};
use lowwater_model::money::Money;
use serde_json::Value;

/// The organisation, loaded once for all tests that only read.
fn loaded() -> &'static Path {
    static LOADED: OnceLock<tempfile::TempDir> = OnceLock::new();
    let dir = LOADED.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        organisation::write(dir.path());
        let load = run(dir.path(), &["load", "bill.csv", "usage.csv"]);
        assert_eq!(load.code, 0, "{}", load.stderr);
        let plan = run(dir.path(), &["plan"]);
        assert_eq!(plan.code, 0, "{}", plan.stderr);
        dir
    });
    dir.path()
}

fn json(args: &[&str]) -> Value {
    let out = run(loaded(), &[args, &["--json"]].concat());
    assert!(out.code <= 1, "{args:?}: {}", out.stderr);
    serde_json::from_str(&out.stdout).unwrap()
}

fn money(value: &Value) -> Money {
    Money::parse(value.as_str().unwrap()).unwrap()
}

#[test]
fn load_prints_every_digit_as_text_and_as_json() {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    let text = run_wide(dir.path(), 120, &["load", "bill.csv", "usage.csv"]);
    insta::assert_snapshot!("load", transcript(&text));
    let again = run(dir.path(), &["load", "bill.csv", "usage.csv", "--json"]);
    let value: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(value["unchanged"], true, "loading twice is loading once");
    let bill = value["units"]
        .as_array()
        .unwrap()
        .iter()
        .find(|u| u["kind"] == "bill")
        .unwrap();
    assert_eq!(
        (&bill["source"], &bill["account"], &bill["month"]),
        (&"aws".into(), &"1234".into(), &"2026-10".into())
    );
    assert_eq!(
        (bill["rows"].as_u64(), bill["rejects"].as_u64()),
        (Some(3 * 28 * 24 + 2), Some(1))
    );
    // 672 hours of each machine, and the tax.
    let billed = &bill["totals"]["billed"];
    assert_eq!(billed["file"], "1519.9098962962208");
    assert_eq!(billed["stored"], "1519.909896296288");
    assert_eq!(billed["residual"], "-0.0000000000672");
    assert!(bill["warnings"].is_array());
}

#[test]
fn reports_add_up_to_the_bill_in_every_way() {
    let bill = json(&["report"]);
    assert_eq!(
        (&bill["metric"], &bill["currency"]),
        (&"effective".into(), &"USD".into())
    );
    let total = bill["total"].as_str().unwrap();
    assert_eq!(total, "1519.9098962962208");
    let ways = [
        "month",
        "day",
        "class",
        "team",
        "project",
        "environment",
        "model",
        "workload",
        "sku",
        "region",
        "account",
        "pricing_category",
        "team,class",
        "sku,month",
    ];
    for by in ways {
        let modes: &[&str] = if by == "team" || by == "sku,month" {
            &["keep", "separate", "spread"]
        } else {
            &["keep"]
        };
        for idle in modes {
            let report = json(&["report", "--by", by, "--idle", idle]);
            assert_eq!(report["total"], total, "{by} {idle}");
            let rows = report["rows"].as_array().unwrap();
            let (exact, rounding): (Vec<&Value>, Vec<&Value>) =
                rows.iter().partition(|r| !by.split(',').any(|d| r[d] == "(rounding)"));
            assert_eq!(
                exact.iter().map(|r| money(&r["cost"])).sum::<Money>().full(),
                "1519.909896296288",
                "{by} {idle}"
            );
            assert_eq!(rounding.len(), 1);
            assert_eq!(rounding[0]["cost"], "-0.0000000000672");
            assert!(
                rows.iter().all(|r| by.split(',').all(|d| r[d].is_string())),
                "{by}: {report}"
            );
        }
    }
}

#[test]
fn csv_has_the_metric_in_its_header_and_no_formulas() {
    let out = run(loaded(), &["report", "--by", "team", "--metric", "billed", "--csv"]).stdout;
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("team,BilledCost,x_IdleBilledCost,BillingCurrency"));
    assert!(out.contains("\n'=cmd(),540.8338962962"), "{out}");
    assert!(out.contains("\n(rounding),-0.0000000000672,"), "{out}");
    assert_eq!(run(loaded(), &["report", "--csv", "--json"]).code, 2);
}

#[test]
fn wrong_questions_are_exit_2() {
    for args in [
        &["report", "--by", "colour"][..],
        &["report", "--by", "team,team"],
        &["report", "--by", "team,class,sku"],
        &["report", "--metric", "amortised"],
        &["report", "--from", "2026-10-20", "--to", "2026-10-20"],
        &["report", "--from", "yesterday"],
        &["plan", "--as-of", "soon"],
        &["load", "bill.csv", "--replace", "--append"],
        &["load", "bill.csv", "--tz", "Berlin"],
        &["load", "bill.csv", "--format", "word"],
        &["show", "zz"],
        &["explain", "i-nobody"],
    ] {
        let wrong = run(loaded(), args);
        assert_eq!(
            (wrong.code, wrong.stdout.as_str()),
            (2, ""),
            "{args:?}: {}",
            wrong.stderr
        );
    }
}

#[test]
fn missing_things_are_named_with_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = run(dir.path(), &["report"]);
    assert_eq!(nothing.code, 4);
    assert!(
        nothing.stderr.contains("lowwater-data") && nothing.stderr.contains("hint: "),
        "{}",
        nothing.stderr
    );
    let file = run(dir.path(), &["load", "none.csv"]);
    assert!(file.code >= 3 && file.stderr.contains("none.csv"), "{}", file.stderr);
    let plan = run(dir.path(), &["show", "plan"]);
    assert_eq!(plan.code, 3);
    assert!(
        plan.stderr.contains("hint: `lowwater plan` makes one"),
        "{}",
        plan.stderr
    );
}

#[test]
fn a_load_that_would_lose_most_of_a_month_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    assert_eq!(run(dir.path(), &["load", "bill.csv"]).code, 0);
    let bill = organisation::bill();
    let short: Vec<&str> = bill.lines().take(500).collect();
    std::fs::write(dir.path().join("short.csv"), short.join("\n") + "\n").unwrap();
    let refused = run(dir.path(), &["load", "short.csv"]);
    assert_eq!(refused.code, 4);
    assert!(refused.stderr.contains("--replace"), "{}", refused.stderr);
    assert_eq!(run(dir.path(), &["load", "short.csv", "--replace"]).code, 0);
}

#[test]
fn a_load_is_taken_back_and_comes_again() {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    let parsed = |args: &[&str]| serde_json::from_str::<Value>(&run(dir.path(), args).stdout).unwrap();
    assert_eq!(run(dir.path(), &["load", "bill.csv", "usage.csv"]).code, 0);
    let total = parsed(&["report", "--json"])["total"].clone();
    let listed = parsed(&["unload", "--json"]);
    assert_eq!(
        (&listed["removed"], &listed["units"][0]["billed"]),
        (&false.into(), &total)
    );
    let wrong = run(dir.path(), &["unload", "--source", "nobody"]);
    assert!(
        wrong.code == 2 && wrong.stderr.contains("hint: `lowwater"),
        "{}",
        wrong.stderr
    );
    let gone = run(dir.path(), &["unload", "--kind", "bill", "--month", "2026-10"]);
    insta::assert_snapshot!("unload", undated(&gone.stdout));
    assert_eq!(run(dir.path(), &["report"]).code, 4, "there is no bill");
    assert_eq!(run(dir.path(), &["load", "bill.csv"]).code, 0);
    assert_eq!(parsed(&["report", "--json"])["total"], total);
}

/// Without the day of the load.
fn undated(text: &str) -> String {
    let day = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    text.replace(&day, "(today)")
}

#[test]
fn the_plan_is_the_file_and_the_file_is_the_plan() {
    let shown = json(&["show", "plan"]);
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(loaded().join("lowwater-data/plan.json")).unwrap()).unwrap();
    assert_eq!(shown, file);
    for key in [
        "version", "id", "facts", "policy", "as_of", "period", "currency", "bill", "planned", "steps", "declined",
    ] {
        assert!(!file[key].is_null(), "{key}");
    }
    let steps = file["steps"].as_array().unwrap();
    let levers: Vec<&Value> = steps.iter().map(|s| &s["lever"]).collect();
    assert_eq!(levers, ["idle", "off_hours"]);
    for step in steps {
        for key in [
            "id", "lever", "target", "phase", "share", "without", "risk", "effort", "needs", "because",
        ] {
            assert!(!step[key].is_null(), "{key}");
        }
        for kind in ["cash", "freed"] {
            for point in ["p10", "p50", "p90"] {
                assert!(step["saving"][kind][point].is_number() && step["per_month"][kind][point].is_number());
            }
        }
    }
    let shares: f64 = steps.iter().map(|s| s["share"].as_f64().unwrap()).sum();
    let total = file["bill"]["total"].as_f64().unwrap() - file["planned"]["total"].as_f64().unwrap();
    assert!((shares - total).abs() < 1e-5, "{shares} {total}");
    assert!(
        file["declined"]
            .as_array()
            .unwrap()
            .iter()
            .all(|d| d["lever"].is_string() && d["why"].is_string())
    );
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    // The metrics first, in two steps: the order of loading is not part of the facts.
    for file in ["usage.csv", "bill.csv"] {
        assert_eq!(run(dir.path(), &["load", file]).code, 0);
    }
    let out = run(dir.path(), &["plan", "--out", "plan-2.json", "--json"]);
    let first = std::fs::read_to_string(loaded().join("lowwater-data/plan.json")).unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join("plan-2.json")).unwrap(), first);
    assert_eq!(out.stdout, first);
    assert!(!dir.path().join("lowwater-data/plan.json").exists());
}

#[test]
fn another_policy_holds_for_facts_and_plan() {
    let dir = loaded();
    std::fs::write(
        dir.join("strict.toml"),
        "[plan]\nreplay_days = 14\nmin_saving_per_month = 100000.0\n",
    )
    .unwrap();
    let out = run(
        dir,
        &["plan", "--policy", "strict.toml", "--out", "strict.json", "--json"],
    );
    let plan: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(plan["period"]["start"], "2026-10-18T00:00:00Z");
    assert_eq!(plan["steps"].as_array().unwrap().len(), 0);
    assert_ne!(plan["policy"], json(&["show", "plan"])["policy"]);
    assert_eq!(run(dir, &["plan", "--policy", "none.toml"]).code, 3);
    let first_line = |args: &[&str]| run_wide(dir, 120, args).stdout.lines().next().unwrap().to_owned();
    assert!(first_line(&["show", "plan", "--plan", "strict.json"]).contains("this plan was made under another policy"));
    assert!(!first_line(&["show", "plan"]).contains("this plan"));
}

#[test]
fn a_plan_as_of_a_day_sees_nothing_after_it() {
    let plan: Value = serde_json::from_str(
        &run(
            loaded(),
            &["plan", "--as-of", "2026-10-25", "--out", "early.json", "--json"],
        )
        .stdout,
    )
    .unwrap();
    assert_eq!(plan["as_of"], "2026-10-25T00:00:00Z");
    assert_eq!(plan["period"]["end"], "2026-10-25T00:00:00Z");
    let shown = run_wide(loaded(), 120, &["show", "plan", "--plan", "early.json"]).stdout;
    assert!(
        shown.contains("this plan sees nothing of the bill's newest days: `lowwater plan` makes it anew"),
        "{shown}"
    );
    let late = run(loaded(), &["plan", "--as-of", "2027-01-01", "--out", "late.json"]);
    let said = "--as-of 1 Jan 2027 00:00 UTC is after the end of the bill: planned as of 1 Nov 2026 00:00 UTC";
    assert!(late.stderr.contains(said), "{}", late.stderr);
    let file = std::fs::read_to_string(loaded().join("late.json")).unwrap();
    assert!(
        file.contains("asked as of 2027-01-01T00:00:00Z, after the end of the bill"),
        "the file says it too"
    );
}

#[test]
fn screens_look_like_this() {
    for (name, columns, args) in [
        ("report", 100, &["report", "--by", "team"][..]),
        (
            "report_wide",
            140,
            &["report", "--by", "workload,class", "--idle", "separate"],
        ),
        ("plan", 140, &["show", "plan"]),
        ("plan_narrow", 80, &["show", "plan"]),
        ("step", 100, &["show", "1"]),
        ("prices", 140, &["show", "prices"]),
        ("explain", 100, &["explain", "nb-1"]),
        ("doctor", 120, &["doctor"]),
        ("rejects", 100, &["rejects"]),
    ] {
        insta::assert_snapshot!(name, transcript(&run_wide(loaded(), columns, args)));
    }
}

#[test]
fn every_screen_fits_and_has_no_colour_in_a_pipe() {
    for columns in [60, 100, 160] {
        for args in [
            &["report"][..],
            &["report", "--by", "team,class"],
            &["show", "plan"],
            &["show", "1"],
            &["show", "prices"],
            &["explain", "nb-1"],
            &["doctor"],
            &["rejects"],
        ] {
            let text = run_wide(loaded(), columns, args).stdout;
            let widest = text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
            assert!(widest <= columns, "{args:?} at {columns}: {widest}\n{text}");
            assert!(!text.contains('\u{1b}'), "{args:?}");
        }
    }
}

#[test]
fn findings_have_one_shape_and_doctor_exits_with_1() {
    let doctor = run(loaded(), &["doctor", "--json"]);
    assert_eq!(doctor.code, 1);
    let findings: Value = serde_json::from_str(&doctor.stdout).unwrap();
    let rejects = json(&["rejects"]);
    assert_eq!(
        rejects[0]["at_stake"],
        Value::Null,
        "a cost that is no number is an unknown amount"
    );
    for finding in findings.as_array().unwrap().iter().chain(rejects.as_array().unwrap()) {
        assert!(
            ["id", "where", "why", "hint"]
                .iter()
                .all(|key| finding[key].is_string()),
            "{finding}"
        );
        let amount = finding.get("cost").or(finding.get("at_stake")).unwrap();
        assert!(amount.is_null() || amount.is_string());
    }
    let ids: Vec<&str> = findings
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["id"].as_str().unwrap())
        .collect();
    assert!(
        ids.contains(&"rejects") && ids.contains(&"unknown_costs") && ids.contains(&"untagged"),
        "{ids:?}"
    );
}

#[test]
fn quiet_prints_no_next_steps() {
    let loud = run(loaded(), &["report"]).stdout;
    let quiet = run(loaded(), &["--quiet", "report"]).stdout;
    assert!(loud.contains("\nnext:\n") && !quiet.contains("next:"));
    assert!(loud.starts_with(&quiet[..40]));
}
