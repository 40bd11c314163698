//! Who is let in to the dashboard, and what each may see and do, over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may fail, and says what it skips"
)]

mod common;

use std::io::Write as _;
use std::process::Stdio;

use common::served::{Answer, Served};
use common::{finish, organisation, program, run};
use serde_json::Value;

const PASSWORD: &str = "a sentence does well";

/// A loaded organisation with a viewer, an approver, and somebody of one team.
fn served(options: &[&str]) -> Served {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    assert_eq!(run(dir.path(), &["load", "bill.csv", "usage.csv"]).code, 0);
    std::fs::write(dir.path().join("password.txt"), format!("{PASSWORD}\r\n")).unwrap();
    for user in [
        &["eve"][..],
        &["ann", "--role", "approver"],
        &["tim", "--role", "admin", "--team", "vision"],
    ] {
        let add = [&["user", "add"], user, &["--password-file", "password.txt"]].concat();
        let done = run(dir.path(), &add);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    Served::with(dir, options)
}

fn origin(served: &Served) -> String {
    format!("Origin: http://{}\r\n", served.address)
}

fn log_in(served: &Served, name: &str, password: &str) -> Answer {
    let password = password.replace(' ', "+");
    served.post(
        "/login",
        &origin(served),
        &format!("name={name}&password={password}&to=%2Fplan"),
    )
}

/// The line of the head that a browser sends after a login.
fn cookie(answer: &Answer) -> String {
    let set = &answer.headers["set-cookie"];
    for word in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age="] {
        assert!(set.contains(word), "{set}");
    }
    format!("Cookie: {}\r\n", set.split(';').next().unwrap())
}

fn logged_in(served: &Served, name: &str) -> String {
    let answer = log_in(served, name, PASSWORD);
    assert_eq!(
        (answer.status, answer.headers["location"].as_str()),
        (303, "/plan"),
        "{}",
        answer.body
    );
    cookie(&answer)
}

fn token(served: &Served, args: &[&str]) -> String {
    let made = run(served.dir.path(), &[&["token", "add"], args, &["--json"]].concat());
    assert_eq!(made.code, 0, "{}", made.stderr);
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    format!("Authorization: Bearer {}\r\n", made["token"].as_str().unwrap())
}

#[test]
fn nobody_comes_in_without_a_login() {
    let served = served(&["--login"]);
    for path in ["/", "/explore?by=team", "/plan", "/nothing", "/explore?file=rows"] {
        let answer = served.get(path);
        assert_eq!(answer.status, 303, "{path}");
        assert!(answer.headers["location"].starts_with("/login?to=%2F"), "{path}");
        assert!(answer.body.is_empty(), "{path}");
    }
    for path in ["/api/v1/week", "/api/v1/plan", "/api/v1/approvals", "/metrics"] {
        let answer = served.get(path);
        assert_eq!(
            (answer.status, answer.headers["www-authenticate"].as_str()),
            (401, "Bearer"),
            "{path}"
        );
        assert!(!answer.body.contains("USD"), "{path}");
    }
    assert_eq!(
        served
            .post("/plan/approve", &origin(&served), "token=x&step=x&plan=x&days=7")
            .status,
        401
    );
    assert_eq!(served.get("/healthz").status, 200, "it says nothing of the data");
    let page = served.get("/login?to=%2Fplan").body;
    assert!(
        page.contains("value=\"/plan\"") && page.contains("autocomplete=\"current-password\""),
        "{page}"
    );
    let hostile = served.get("/login?to=%22%3E%3Cscript%3E").body;
    assert!(
        !hostile.contains("<script>") && hostile.contains("value=\"/\""),
        "{hostile}"
    );
    for bad in ["guessed", "", "0000"] {
        for head in [
            format!("Cookie: lowwater={bad}\r\n"),
            format!("Authorization: Bearer {bad}\r\n"),
        ] {
            assert!(matches!(served.get_with("/plan", &head).status, 303 | 401), "{head}");
        }
    }
    assert_eq!(
        served.get_with("/plan", "X-Forwarded-User: ann\r\n").status,
        303,
        "no proxy is trusted"
    );
}

#[test]
fn a_login_holds_until_it_is_ended() {
    let served = served(&["--login"]);
    let wrong = log_in(&served, "ann", "another sentence");
    assert_eq!(wrong.status, 401);
    assert!(!wrong.headers.contains_key("set-cookie") && !wrong.body.contains("another sentence"));
    let cross = served.post(
        "/login",
        "Origin: http://evil.example\r\n",
        &format!("name=ann&password={}", PASSWORD.replace(' ', "+")),
    );
    assert_eq!(cross.status, 403);
    let (mine, other) = (logged_in(&served, "ann"), logged_in(&served, "ann"));
    let page = served.get_with("/plan", &mine);
    assert!(
        page.status == 200 && page.body.contains("Log out") && page.body.contains("ann"),
        "{}",
        page.status
    );
    let form = page
        .body
        .split("name=\"token\" value=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let leave = |head: &str, token: &str| {
        served.post(
            "/logout",
            &format!("{}{head}", origin(&served)),
            &format!("token={token}"),
        )
    };
    leave(&mine, "guessed");
    leave(&other, &form);
    assert_eq!(served.get_with("/plan", &mine).status, 200, "no other page ends it");
    assert_eq!(
        served.get_with("/plan", &other).status,
        200,
        "nor another session's form"
    );
    assert_eq!(leave(&mine, &form).headers["location"], "/login");
    assert_eq!(served.get_with("/plan", &mine).status, 303);
    assert_eq!(run(served.dir.path(), &["user", "remove", "ann"]).code, 0);
    assert_eq!(
        served.get_with("/plan", &other).status,
        303,
        "a removed user is out at once"
    );
}

#[test]
fn guessing_takes_ever_longer() {
    let served = served(&["--login"]);
    for _ in 0..5 {
        assert_eq!(log_in(&served, "eve", "a wrong sentence").status, 401);
    }
    let limited = log_in(&served, "eve", PASSWORD);
    assert_eq!(limited.status, 429, "even with the right one");
    assert!(limited.headers["retry-after"].parse::<u64>().unwrap() >= 1);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    logged_in(&served, "eve");
}

#[test]
fn who_looks_does_not_decide() {
    let served = served(&["--login"]);
    let plan: Value = serde_json::from_str(&served.get_with("/api/v1/plan", &logged_in(&served, "eve")).body).unwrap();
    let blocked = |step: &Value| {
        step["needs"]
            .as_array()
            .is_some_and(|needs| needs.iter().any(|n| n["met"] == false))
    };
    let step = plan["steps"]
        .as_array()
        .unwrap()
        .iter()
        .find(|step| !blocked(step))
        .unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let decide = |who: &str| {
        let head = format!("{}{}", origin(&served), logged_in(&served, who));
        let page = served.get_with(&format!("/plan?step={step}"), &head).body;
        let token = page
            .split("name=\"token\" value=\"")
            .nth(1)
            .map_or("", |rest| rest.split('"').next().unwrap())
            .to_owned();
        let body = format!(
            "token={token}&step={step}&plan={}&days=30",
            plan["id"].as_str().unwrap()
        );
        (page, served.post("/plan/approve", &head, &body))
    };
    let (page, refused) = decide("eve");
    assert!(page.contains("eve may look, and not decide"), "{page}");
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert_eq!(decide("ann").1.status, 303);
    let approvals = served.get_with("/api/v1/approvals", &logged_in(&served, "eve")).body;
    assert!(approvals.contains("\"who\":\"ann\""), "{approvals}");
}

#[test]
fn who_sees_one_team_sees_it_everywhere_and_nothing_else() {
    let served = served(&["--login"]);
    let whole = token(&served, &["all"]);
    let all: Value = serde_json::from_str(&served.get_with("/api/v1/explore?by=team&period=all", &whole).body).unwrap();
    let rows = all["rows"].as_array().unwrap();
    let of = |name: &str| rows.iter().find(|row| row["team"] == name).unwrap();
    let others: Vec<&str> = rows
        .iter()
        .map(|row| row["team"].as_str().unwrap())
        .filter(|team| *team != "vision")
        .collect();
    assert!(!others.is_empty());
    let (browser, program) = (
        logged_in(&served, "tim"),
        token(&served, &["robot", "--team", "vision"]),
    );
    for head in [&browser, &program] {
        for words in ["", "&only=team:vision", "&only=team:nothing", "&only=account:1"] {
            let answer = served.get_with(&format!("/api/v1/explore?by=team&period=all{words}"), head);
            let seen: Value = serde_json::from_str(&answer.body).unwrap();
            assert!(
                seen["rows"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|row| row["team"] == "vision"),
                "{words}: {seen}"
            );
        }
        for other in &others {
            let path = format!(
                "/api/v1/explore?by=workload&period=all&only=team:{}",
                other.replace(' ', "%20")
            );
            let seen: Value = serde_json::from_str(&served.get_with(&path, head).body).unwrap();
            assert_eq!(seen["rows"].as_array().unwrap().len(), 0, "{other}");
        }
        let seen: Value =
            serde_json::from_str(&served.get_with("/api/v1/explore?by=team&period=all", head).body).unwrap();
        assert_eq!(seen["rows"][0]["cost"], of("vision")["cost"], "its own money is whole");
        assert_eq!(seen["total"], seen["rows"][0]["cost"], "and the sum is of that alone");
        for path in ["/explore?by=team&period=all", "/explore?by=team&period=all&file=rows"] {
            let page = served.get_with(path, head);
            assert_eq!(page.status, 200, "{path}");
            for other in others.iter().filter(|other| !other.starts_with('(')) {
                assert!(!page.body.contains(*other), "{path} names {other}");
            }
        }
        for page in [
            "week",
            "fleet",
            "workloads",
            "plan",
            "spot",
            "commitments",
            "serving",
            "idle",
            "prices",
            "data",
            "approvals",
        ] {
            let answer = served.get_with(&format!("/api/v1/{page}"), head);
            assert_eq!(answer.status, 403, "{page}: {}", answer.body);
        }
        assert_eq!(served.get_with("/metrics", head).status, 403);
    }
    let home = served.get_with("/", &browser);
    assert_eq!(home.headers["location"], "/explore");
    let page = served.get_with("/explore", &browser).body;
    assert!(!page.contains("href=\"/plan"), "no link leads to what it may not see");
    assert_eq!(served.get_with("/plan", &browser).status, 403);
}

#[test]
fn a_token_ends_when_it_is_removed() {
    let served = served(&[]);
    assert_eq!(
        served.get("/api/v1/plan").status,
        200,
        "on this machine its user needs none"
    );
    let head = token(&served, &["grafana", "--days", "30"]);
    assert_eq!(served.get_with("/metrics", &head).status, 200);
    let list = run(served.dir.path(), &["token", "list", "--json"]).stdout;
    let secret = head.trim().rsplit(' ').next().unwrap();
    assert!(list.contains("grafana") && !list.contains(secret), "{list}");
    assert_eq!(run(served.dir.path(), &["token", "remove", "grafana"]).code, 0);
    assert_eq!(
        served.get_with("/metrics", &head).status,
        401,
        "a stolen one opens nothing any more"
    );
}

#[test]
fn users_are_added_listed_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(run(dir.path(), &["init"]).code, 0);
    let type_in = |args: &[&str], typed: &str| {
        let mut child = program(dir.path(), args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let (code, said, error) = type_in(
        &["user", "add", "ann", "--role", "approver", "--team", "vision"],
        "a sentence does well\n",
    );
    assert_eq!((code, said.as_str()), (0, "The user ann is added.\n"), "{error}");
    let (code, _, error) = type_in(&["user", "add", "bob"], "short\n");
    assert!(
        code == 4 && error.contains("5 characters") && error.contains("hint: choose"),
        "{error}"
    );
    let (code, _, error) = type_in(&["user", "add", "Bob Smith"], "a sentence does well\n");
    assert!(code == 2 && error.contains("1 to 64"), "{error}");
    let list = run(dir.path(), &["user", "list"]).stdout;
    assert!(
        list.contains("ann") && list.contains("approver") && list.contains("team vision"),
        "{list}"
    );
    let (code, _, error) = type_in(&["user", "password", "eve"], "another sentence\n");
    assert!(code == 4 && error.contains("no user `eve`"), "{error}");
    assert_eq!(type_in(&["user", "password", "ann"], "another sentence\n").0, 0);
    assert_eq!(run(dir.path(), &["user", "remove", "ann"]).code, 0);
    assert_eq!(run(dir.path(), &["user", "remove", "ann"]).code, 4);
    let log = run(dir.path(), &["log"]);
    assert!(
        log.code == 0 && log.stdout.starts_with("3 lines; none was changed"),
        "{} {}",
        log.stdout,
        log.stderr
    );
    let state = std::fs::read(dir.path().join("lowwater-data/state.db")).unwrap();
    assert!(!state.windows(16).any(|at| at == b"another sentence"));
}

#[test]
fn an_address_of_others_needs_logins_tls_and_a_name() {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    let refused = |args: &[&str], why: &str| {
        let end = finish(program(
            dir.path(),
            &[&["serve", "--listen", "0.0.0.0:0"], args].concat(),
        ));
        assert!(
            end.code == 4 && end.stderr.contains(why) && end.stderr.contains("hint:"),
            "{why}: {}",
            end.stderr
        );
    };
    refused(&["--behind-proxy", "--host", "x"], "nobody could log in");
    std::fs::write(dir.path().join("password.txt"), PASSWORD).unwrap();
    assert_eq!(
        run(dir.path(), &["user", "add", "ann", "--password-file", "password.txt"]).code,
        0
    );
    refused(&["--host", "x"], "could be read on the way");
    refused(&["--behind-proxy"], "unknown host");
    let no_key = finish(program(dir.path(), &["serve", "--tls-cert", "password.txt"]));
    assert_eq!(no_key.code, 2, "{}", no_key.stderr);
    let wrong = finish(program(
        dir.path(),
        &["serve", "--tls-cert", "password.txt", "--tls-key", "password.txt"],
    ));
    assert!(
        wrong.code == 3 && wrong.stderr.contains("password.txt"),
        "{}",
        wrong.stderr
    );
    assert!(!wrong.stderr.contains(PASSWORD), "{}", wrong.stderr);
    let served = Served::with(
        dir,
        &["--listen", "0.0.0.0:0", "--behind-proxy", "--host", "costs.example.com"],
    );
    let port = served.address.rsplit(':').next().unwrap();
    let ask = |host: &str| {
        served
            .send(&format!(
                "GET /login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            ))
            .status
    };
    assert_eq!(
        (ask("costs.example.com"), ask(&format!("127.0.0.1:{port}"))),
        (200, 421)
    );
}

/// Runs a tool; none, with a word, where it is not installed. In CI that is an error.
fn tool(name: &str, args: &[&str], dir: &std::path::Path) -> Option<std::process::Output> {
    let output = std::process::Command::new(name).args(args).current_dir(dir).output();
    if output.is_err() {
        assert!(std::env::var_os("CI").is_none(), "{name} is not installed");
        eprintln!("skipped: TLS of the dashboard (no {name})");
    }
    output.ok()
}

#[test]
fn over_tls_cookies_are_for_tls_alone() {
    let served = || {
        let dir = tempfile::tempdir().unwrap();
        organisation::write(dir.path());
        std::fs::write(dir.path().join("password.txt"), PASSWORD).unwrap();
        assert_eq!(run(dir.path(), &["load", "bill.csv"]).code, 0);
        assert_eq!(
            run(dir.path(), &["user", "add", "ann", "--password-file", "password.txt"]).code,
            0
        );
        let subject = "-subj /CN=localhost -addext subjectAltName=DNS:localhost";
        let make = format!("req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out chain.pem -days 2 {subject}");
        let made = tool("openssl", &make.split(' ').collect::<Vec<_>>(), dir.path())?;
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let (chain, key) = (dir.path().join("chain.pem"), dir.path().join("key.pem"));
        let options = [
            "--login",
            "--tls-cert",
            chain.to_str().unwrap(),
            "--tls-key",
            key.to_str().unwrap(),
        ];
        Some(Served::with(dir, &options))
    };
    let Some(served) = served() else { return };
    let dir = served.dir.path();
    let base = format!("https://localhost:{}", served.address.rsplit(':').next().unwrap());
    let curl = |args: &[&str]| -> Option<String> {
        let output = tool("curl", &[&["-s", "-i", "--cacert", "chain.pem"], args].concat(), dir)?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(health) = curl(&[&format!("{base}/healthz")]) else {
        return;
    };
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    let origin = format!("Origin: {base}");
    let form = [
        "--data-urlencode",
        "name=ann",
        "--data-urlencode",
        &format!("password={PASSWORD}"),
    ];
    let login = curl(&[&form[..], &["-c", "jar", "-H", &origin, &format!("{base}/login")]].concat()).unwrap();
    assert!(
        login.starts_with("HTTP/1.1 303") && login.contains("set-cookie: __Host-lowwater="),
        "{login}"
    );
    assert!(login.contains("; Secure"), "{login}");
    let page = curl(&["-b", "jar", &format!("{base}/explore")]).unwrap();
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("Log out"), "{page}");
    let plain = served.send("GET /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(
        plain.status == 0 || plain.status == 400,
        "nothing is answered without TLS: {}",
        plain.status
    );
}
