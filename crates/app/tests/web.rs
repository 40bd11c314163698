//! The dashboard over real sockets: every page, JSON and files with the same numbers, and what hostile requests get.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use common::served::{Answer, Served};
use common::{organisation, run};
use lowwater_model::money::Money;
use serde_json::Value;

/// The organisation, served once for all tests that run at the same time, and ended with the last of them.
fn served() -> Arc<Served> {
    static SERVED: Mutex<Weak<Served>> = Mutex::new(Weak::new());
    let mut served = SERVED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(there) = served.upgrade() {
        return there;
    }
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    let load = run(dir.path(), &["load", "bill.csv", "usage.csv"]);
    assert_eq!(load.code, 0, "{}", load.stderr);
    let new = Arc::new(Served::new(dir));
    *served = Arc::downgrade(&new);
    new
}

const PAGES: [&str; 11] = [
    "/",
    "/explore",
    "/fleet",
    "/workloads",
    "/plan",
    "/spot",
    "/commitments",
    "/serving",
    "/idle",
    "/prices",
    "/data",
];

#[test]
fn every_page_is_whole_and_guarded() {
    let served = served();
    for path in PAGES {
        let answer = served.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(
            answer.body.contains("<h1>") && answer.body.trim_end().ends_with("</html>"),
            "{path}"
        );
        assert_eq!(
            answer.body.matches("aria-current=\"page\"").count(),
            1,
            "{path} is one of the navigation"
        );
        let policy = &answer.headers["content-security-policy"];
        assert!(
            policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        let scripts = answer.body.matches("<script").count();
        let outside = answer.body.matches("<script src=\"/assets/").count();
        let data = answer.body.matches("<script type=\"application/json\">").count();
        assert_eq!(scripts, outside + data, "{path}: a script inside of the page");
        assert!(
            !answer.body.contains("http://") && !answer.body.contains("https://"),
            "{path} leads elsewhere"
        );
    }
}

#[test]
fn what_a_page_needs_is_there_and_may_be_kept() {
    let served = served();
    let page = served.get("/explore").body;
    let assets = page.split('"').filter(|word| word.starts_with("/assets/"));
    let mut seen = 0;
    for asset in assets {
        let answer = served.get(asset);
        assert_eq!(answer.status, 200, "{asset}");
        assert!(
            answer.headers["cache-control"].contains("immutable") && !answer.body.is_empty(),
            "{asset}"
        );
        seen += 1;
    }
    assert!(seen >= 4, "style, script, plotly and icon: {seen}");
    for wrong in [
        "/assets/0/app.css",
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc/passwd",
    ] {
        let answer = served.get(wrong);
        assert!(
            answer.status == 404 && !answer.body.contains("root:"),
            "{wrong}: {}",
            answer.status
        );
    }
}

#[test]
fn pages_json_files_and_the_terminal_have_the_same_numbers() {
    let served = served();
    let dir = served.dir.path();
    let json = |args: &[&str]| serde_json::from_str::<Value>(&run(dir, args).stdout).unwrap();
    let terminal = json(&["report", "--by", "team,class", "--json"]);
    let page = served.json("/api/v1/explore?by=team,class&period=all");
    assert_eq!(page["rows"], terminal["rows"]);
    let money = |text: &str| Money::parse(text).unwrap();
    let csv = served.get("/explore?by=team&period=all&file=rows");
    assert_eq!(csv.headers["content-disposition"], "attachment; filename=\"rows.csv\"");
    let mut costs = csv
        .body
        .lines()
        .skip(1)
        .map(|line| money(line.split(',').nth(1).unwrap()));
    let all = costs.next().unwrap();
    let rows = served.json("/api/v1/explore?by=team&period=all")["rows"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(costs.clone().count(), rows, "exactly what the page shows");
    let cent = Money::parse("0.01").unwrap();
    let sum: Money = costs.sum();
    assert!(
        sum - all < cent.times(rows as i64) && all - sum < cent.times(rows as i64),
        "{sum} {all}: cents are rounded"
    );
    let plan = json(&["plan", "--json", "--out", "same.json"]);
    assert_eq!(served.json("/api/v1/plan"), plan, "the page's plan is the command's");
    let idle = served.json("/api/v1/idle")["idle"]["all"]["idle_cost"].clone();
    assert_eq!(
        money(idle.as_str().unwrap()),
        money(json(&["report", "--json"])["lines"]["idle"].as_str().unwrap())
    );
}

#[test]
fn a_filter_holds_for_page_and_figures() {
    let served = served();
    let all = served.json("/api/v1/explore?by=resource&period=all");
    let first = all["rows"][0]["resource"].as_str().unwrap().to_owned();
    let one = served.json(&format!("/api/v1/explore?by=resource&period=all&only=resource:{first}"));
    assert_eq!(one["rows"].as_array().unwrap().len(), 1);
    assert_eq!(one["rows"][0], all["rows"][0]);
    let chip = served.get(&format!("/explore?by=resource&only=resource:{first}")).body;
    assert!(
        chip.contains("class=\"chip\" href=\"/explore?by=resource\""),
        "a chip that takes the filter away"
    );
}

#[test]
fn a_resource_ends_in_its_charges() {
    let served = served();
    let all = served.json("/api/v1/explore?by=resource&period=all");
    assert_eq!(all["charges"], Value::Null, "of one resource only");
    let first = all["rows"][0]["resource"].as_str().unwrap();
    let path = format!("explore?by=resource&period=all&only=resource:{first}");
    let one = served.json(&format!("/api/v1/{path}"));
    let charges = &one["charges"];
    assert_eq!(
        charges["totals"]["effective"], one["rows"][0]["cost"],
        "they add up to its row, exactly"
    );
    let rows = charges["rows"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.len() as i64 == charges["count"].as_i64().unwrap().min(200));
    let csv = served.get(&format!("/{path}&file=charges")).body;
    assert_eq!(csv.lines().count(), rows.len() + 1, "the file has what the page shows");
    let hostile = served
        .get("/explore?by=resource&only=resource:%27%20OR%20%271%27=%271")
        .body;
    assert!(
        !hostile.contains("Save as CSV\" data-save=\"charges"),
        "a name is no SQL"
    );
}

#[test]
fn hostile_words_are_text() {
    let served = served();
    let script = "%3Cscript%3Ealert(1)%3C/script%3E";
    let book = "x".repeat(6000);
    for path in [
        format!("/explore?only=team:{script}"),
        format!("/explore?by={script}&then={script}&metric={script}&period={script}"),
        format!("/plan?step={script}"),
        format!("/workloads?workload={script}"),
        format!("/workloads?resource={script}"),
        format!("/prices?what={script}&region=%27%20OR%201=1"),
        "/explore?only=team:%27%29%20OR%20%281=1".to_owned(),
        "/explore?from=2026-99-99&to=0000-00-00".to_owned(),
        "/explore?from=-9999-01-01&to=9999-12-31".to_owned(),
        "/explore?by=sku,team,class".to_owned(),
        format!("/explore?only=team:{book}"),
        format!("/{script}"),
        "/explore?file=../../etc/passwd".to_owned(),
    ] {
        let answer = served.get(&path);
        assert!(
            matches!(answer.status, 200 | 400 | 404 | 409),
            "{path}: {} {}",
            answer.status,
            answer.body
        );
        assert!(!answer.body.contains("<script>alert"), "{path}");
        assert!(
            !answer.body.contains("panicked") && !answer.body.contains("root:"),
            "{path}"
        );
    }
    for wrong in [
        "from=2026-99-99&to=2026-10-01",
        "period=8d",
        "by=sku,team,class",
        "metric=x",
        "only=x:y",
    ] {
        for page in ["explore", "week", "plan", "data"] {
            assert_eq!(
                served.get(&format!("/api/v1/{page}?{wrong}")).status,
                400,
                "{page}?{wrong}"
            );
        }
    }
    let nothing = served.json("/api/v1/explore?period=all&only=team:%27%29%20OR%20%281=1");
    assert_eq!(nothing["rows"].as_array().unwrap().len(), 0, "a label is no SQL");
}

#[test]
fn another_host_and_other_methods_are_refused() {
    let served = served();
    let answer = served.send("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert!(
        answer.status == 421 && !answer.body.contains("USD"),
        "{}",
        answer.status
    );
    let none = served.send("GET / HTTP/1.0\r\nConnection: close\r\n\r\n");
    assert_eq!(none.status, 421);
    let host = &served.address;
    let post = served.send(&format!(
        "POST /plan HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    ));
    assert_eq!(post.status, 405);
    assert_eq!(served.get("/healthz").body, "ok\n");
    assert_eq!(served.get("/nothing").status, 404);
    assert_eq!(served.get("/readyz").body, "ready\n");
    let metrics = served.get("/metrics");
    assert!(metrics.headers["content-type"].starts_with("text/plain; version=0.0.4"));
    assert!(
        metrics.body.contains("\nnode_gpu_hourly_cost{node=\"")
            && metrics.body.contains("\nlowwater_plan_cash_per_month{")
    );
}

#[test]
fn a_step_is_approved_from_its_page_alone() {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    assert_eq!(run(dir.path(), &["load", "bill.csv", "usage.csv"]).code, 0);
    let served = Served::new(dir);
    let plan = served.json("/api/v1/plan");
    let blocked = |step: &Value| {
        step["needs"]
            .as_array()
            .is_some_and(|needs| needs.iter().any(|n| n["met"] == false))
    };
    let steps = plan["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| !blocked(step)).unwrap()["id"]
        .as_str()
        .unwrap();
    let page = served.get(&format!("/plan?step={step}")).body;
    let value = |name: &str| {
        page.split(&format!("name=\"{name}\" value=\""))
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .to_owned()
    };
    let (token, id) = (value("token"), plan["id"].as_str().unwrap());
    assert_eq!((token.len(), value("plan").as_str()), (64, id));
    let good = format!("token={token}&step={step}&plan={id}&days=30");
    let origin = format!("Origin: http://{}\r\n", served.address);
    for (head, body) in [
        (origin.as_str(), format!("token=guess&step={step}&plan={id}&days=30")),
        ("Origin: http://evil.example\r\n", good.clone()),
        ("Sec-Fetch-Site: cross-site\r\n", good.clone()),
        (&origin, format!("token={token}&step={step}&plan=older&days=30")),
        (&origin, format!("token={token}&step=nothing&plan={id}&days=30")),
    ] {
        assert_eq!(served.post("/plan/approve", head, &body).status, 409, "{head}{body}");
    }
    assert_eq!(
        served
            .post(
                "/plan/approve",
                &origin,
                &format!("token={token}&step={step}&plan={id}&days=999")
            )
            .status,
        400
    );
    assert_eq!(served.post("/plan/approve", &origin, "step=1").status, 422);
    assert_eq!(
        served.json("/api/v1/approvals"),
        serde_json::json!([]),
        "nothing was approved"
    );
    let done = served.post("/plan/approve", &origin, &good);
    assert_eq!(
        (done.status, done.headers["location"].as_str()),
        (303, format!("/plan?step={step}").as_str())
    );
    let approved = served.json("/api/v1/approvals");
    assert_eq!((&approved[0]["step"], &approved[0]["plan"]), (&step.into(), &id.into()));
    assert!(served.get("/plan").body.contains("approved until"));
    assert!(
        served
            .get(&format!("/plan?step={step}"))
            .body
            .contains("Approved, not applied by Lowwater")
    );
    assert_eq!(served.json("/api/v1/plan"), plan, "a decision changes no plan");
    let digest = run(served.dir.path(), &["digest"]).stdout;
    assert!(digest.contains("approved until"), "{digest}");
    let back = served.post("/plan/withdraw", &origin, &format!("token={token}&step={step}"));
    assert_eq!(back.status, 303);
    assert_eq!(served.json("/api/v1/approvals"), serde_json::json!([]));
    assert_eq!(
        served
            .post("/plan/withdraw", &origin, &format!("token={token}&step={step}"))
            .status,
        409
    );
}

#[test]
fn what_is_loaded_while_it_runs_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    let empty = Served::new(dir);
    let page = empty.get("/");
    assert!(
        page.status == 409 && page.body.contains("lowwater demo"),
        "{} {}",
        page.status,
        page.body
    );
    assert_eq!((empty.get("/readyz").status, empty.get("/healthz").status), (503, 200));
    let dir: &Path = empty.dir.path();
    assert_eq!(run(dir, &["load", "bill.csv"]).code, 0);
    assert_eq!(empty.get("/").status, 200);
}

#[test]
fn settings_that_broke_while_it_runs_are_told_and_what_was_there_still_answers() {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    assert_eq!(run(dir.path(), &["load", "bill.csv"]).code, 0);
    let served = Served::new(dir);
    assert_eq!(served.get("/explore").status, 200);
    let policy = served.dir.path().join("lowwater-data/policy.toml");
    let good = std::fs::read_to_string(&policy).unwrap();
    std::fs::write(&policy, "[plan]\nmin_saving_per_month = \"<script>\"\n").unwrap();
    let told =
        |page: &Answer| page.body.contains("What is shown is not the newest") && page.body.contains("policy.toml");
    let begin = std::time::Instant::now();
    while !told(&served.get("/explore")) {
        assert!(begin.elapsed().as_secs() < 60, "nothing is told");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let page = served.get("/explore");
    assert!(
        page.status == 200 && page.body.contains("<table>") && !page.body.contains("<script>\""),
        "it still answers"
    );
    std::fs::write(&policy, good).unwrap();
    while told(&served.get("/explore")) {
        assert!(begin.elapsed().as_secs() < 120, "it is mended and still told");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

#[test]
fn versions_come_and_go_under_readers_and_ctrl_c_ends_it() {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    assert_eq!(run(dir.path(), &["load", "bill.csv", "usage.csv"]).code, 0);
    let mut served = Served::new(dir);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    for path in ["/data", "/api/v1/explore", "/explore?file=rows"] {
                        assert_eq!(served.get(path).status, 200, "{path}");
                    }
                }
            });
        }
        for _ in 0..3 {
            let load = run(served.dir.path(), &["load", "bill.csv", "--replace"]);
            assert_eq!(load.code, 0, "{}", load.stderr);
            std::thread::sleep(std::time::Duration::from_millis(1500));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    #[cfg(unix)]
    {
        let pid = served.child.id().to_string();
        assert!(
            std::process::Command::new("kill")
                .args(["-INT", &pid])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(served.child.wait().unwrap().code(), Some(0));
        let mut said = String::new();
        served.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "", "nothing panicked");
    }
}

#[test]
fn only_this_machine_without_a_login() {
    let dir = tempfile::tempdir().unwrap();
    let refused = run(dir.path(), &["serve", "--listen", "0.0.0.0:0"]);
    assert!(
        refused.code == 4 && refused.stderr.contains("SSH tunnel"),
        "{}",
        refused.stderr
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let busy = run(dir.path(), &["serve", "--listen", &address]);
    assert!(
        busy.code == 4 && busy.stderr.contains("hint: another program"),
        "{}",
        busy.stderr
    );
}
