//! Decisions are kept, end, and can't be rewritten.

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn approval(step: &str, who: &str) -> Approval {
    Approval {
        step: step.into(),
        plan: "p1".into(),
        title: "Stop it".into(),
        per_month: "10".into(),
        who: who.into(),
        at: at("2026-11-01T00:00:00Z"),
        until: at("2026-12-01T00:00:00Z"),
    }
}

#[test]
fn an_approval_holds_until_it_ends_or_is_withdrawn() {
    let dir = tempfile::tempdir().unwrap();
    assert!(State::there(dir.path()).unwrap().is_none(), "nobody decided anything");
    let state = State::open(dir.path()).unwrap();
    state.approve(&approval("a", "ann")).unwrap();
    state.approve(&approval("b", "bob")).unwrap();
    let held = |now: &str| -> Vec<String> {
        let again = State::there(dir.path()).unwrap().unwrap();
        again
            .approvals(at(now))
            .unwrap()
            .into_iter()
            .map(|a| format!("{} {}", a.step, a.who))
            .collect()
    };
    assert_eq!(held("2026-11-15T00:00:00Z"), ["a ann", "b bob"]);
    assert_eq!(held("2026-12-01T00:00:00Z"), Vec::<String>::new(), "they ended");
    assert!(state.withdraw("a", "bob", at("2026-11-16T00:00:00Z")).unwrap());
    assert!(
        !state.withdraw("a", "bob", at("2026-11-16T00:00:00Z")).unwrap(),
        "it is withdrawn already"
    );
    assert_eq!(held("2026-11-17T00:00:00Z"), ["b bob"]);
    state.approve(&approval("b", "ann")).unwrap();
    assert_eq!(
        held("2026-11-17T00:00:00Z"),
        ["b ann"],
        "the later one in the place of the earlier"
    );
    let log: Vec<String> = state
        .log()
        .unwrap()
        .into_iter()
        .map(|e| format!("{} {} {}", e.number, e.who, e.what))
        .collect();
    assert_eq!(
        log,
        ["1 ann approved", "2 bob approved", "3 bob withdrew", "4 ann approved"]
    );
}

#[test]
fn the_log_can_only_grow_and_a_forged_line_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    for step in ["a", "b", "c"] {
        state.approve(&approval(step, "ann")).unwrap();
    }
    let run = |sql: &'static str| state.run(async { sqlx::raw_sql(sql).execute(&state.pool).await });
    for forgery in ["UPDATE log SET who = 'bob'", "DELETE FROM log WHERE number = 2"] {
        let error = run(forgery).unwrap_err().to_string();
        assert!(error.contains("the log can only grow"), "{error}");
    }
    run("DROP TRIGGER log_is_not_changed; UPDATE log SET who = 'bob' WHERE number = 2").unwrap();
    let error = state.log().unwrap_err().to_string();
    assert!(error.contains("line 2 of its log"), "{error}");
}

#[test]
fn only_its_owner_may_read_it() {
    let dir = tempfile::tempdir().unwrap();
    State::open(dir.path()).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn what_is_no_database_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join(FILE),
        "my notes, of some length, that are no database at all",
    )
    .unwrap();
    let Err(error) = State::open(dir.path()) else {
        panic!("taken")
    };
    assert!(
        error.to_string().contains("state.db") && error.to_string().contains("hint: "),
        "{error}"
    );
    assert!(
        std::fs::read_to_string(dir.path().join(FILE))
            .unwrap()
            .starts_with("my notes")
    );
}

#[test]
fn a_newer_form_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    state
        .run(async { sqlx::raw_sql("PRAGMA user_version = 99").execute(&state.pool).await })
        .unwrap();
    drop(state);
    let Err(error) = State::open(dir.path()) else {
        panic!("taken")
    };
    assert!(error.to_string().contains("of a newer form"), "{error}");
}

#[test]
fn words_of_people_are_no_sql() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let hostile = "x'; DROP TABLE log; --";
    state.approve(&approval(hostile, hostile)).unwrap();
    assert_eq!(state.approvals(at("2026-11-15T00:00:00Z")).unwrap()[0].step, hostile);
    assert_eq!(state.log().unwrap().len(), 1);
}

fn person(name: &str, role: Role) -> Person {
    Person {
        name: name.into(),
        role,
        scope: Scope::default(),
    }
}

const PASSWORD: &str = "a sentence does well";
const NOW: &str = "2026-11-01T00:00:00Z";

#[test]
fn a_user_logs_in_with_its_password_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let scope = Scope {
        teams: ["vision".to_owned()].into(),
        accounts: ["1".to_owned()].into(),
    };
    let ann = Person {
        scope,
        ..person("ann", Role::Approver)
    };
    state.add_user(&ann, PASSWORD, "root", at(NOW)).unwrap();
    assert_eq!(state.with_password("ann", PASSWORD).unwrap(), Some(ann.clone()));
    for (name, password) in [
        ("ann", "a sentence does Well"),
        ("bob", PASSWORD),
        ("ann", ""),
        ("ann' OR '1'='1", PASSWORD),
    ] {
        assert_eq!(state.with_password(name, password).unwrap(), None, "{name} {password}");
    }
    let refused = |password: &str, name: &str| {
        state
            .add_user(&person(name, Role::Admin), password, "root", at(NOW))
            .unwrap_err()
    };
    assert!(refused(PASSWORD, "ann").to_string().contains("a user `ann` already"));
    let short = refused("short", "bob").to_string();
    assert!(short.contains("5 characters") && !short.contains("short\n"), "{short}");
    assert_eq!(state.users().unwrap(), std::slice::from_ref(&ann));
    assert!(state.set_password("ann", "another sentence", "root", at(NOW)).unwrap());
    assert_eq!(state.with_password("ann", PASSWORD).unwrap(), None);
    assert!(state.remove_user("ann", "root", at(NOW)).unwrap() && !state.remove_user("ann", "root", at(NOW)).unwrap());
    let bytes = std::fs::read(dir.path().join(FILE)).unwrap();
    let is_kept = |word: &str| bytes.windows(word.len()).any(|at| at == word.as_bytes());
    assert!(
        !is_kept(PASSWORD) && !is_kept("another sentence"),
        "no password is written down"
    );
    let log: Vec<String> = state.log().unwrap().into_iter().map(|e| e.what).collect();
    assert_eq!(log, ["added", "gave another password to", "removed"]);
}

#[test]
fn a_session_ends_with_time_and_with_its_user() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    state
        .add_user(&person("ann", Role::Viewer), PASSWORD, "root", at(NOW))
        .unwrap();
    let hours = |hours: i64| at(NOW) + jiff::SignedDuration::from_hours(hours);
    let lives = |secret: &str, now: Timestamp| state.session(secret, now).unwrap().is_some();
    let secret = state.open_session("ann", at(NOW)).unwrap();
    assert!(lives(&secret, hours(11)) && !lives("", hours(0)) && !lives("guessed", hours(0)));
    assert!(lives(&secret, hours(22)), "it was used in between");
    assert!(!lives(&secret, hours(22 + 12)), "it was not used for half a day");
    let secret = state.open_session("ann", at(NOW)).unwrap();
    for hour in (0..24 * SESSION_DAYS).step_by(6) {
        assert!(lives(&secret, hours(hour)));
    }
    assert!(!lives(&secret, hours(24 * SESSION_DAYS)), "however much it is used");
    let [mine, other, third] = [(); 3].map(|()| state.open_session("ann", at(NOW)).unwrap());
    assert!(state.close_session(&mine, "ann", at(NOW)).unwrap());
    assert!(!lives(&mine, hours(1)) && lives(&other, hours(1)));
    assert!(state.set_password("ann", "another sentence", "root", at(NOW)).unwrap());
    assert!(
        !lives(&other, hours(1)) && !lives(&third, hours(1)),
        "a stolen one ends with the password"
    );
    let last = state.open_session("ann", at(NOW)).unwrap();
    assert!(state.remove_user("ann", "root", at(NOW)).unwrap());
    assert!(!lives(&last, hours(1)));
    let bytes = std::fs::read(dir.path().join(FILE)).unwrap();
    assert!(
        !bytes.windows(64).any(|at| at == last.as_bytes()),
        "a copy of the file opens nothing"
    );
}

#[test]
fn a_token_opens_until_it_ends_or_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let token = Token {
        holder: person("grafana", Role::Viewer),
        until: at("2026-12-01T00:00:00Z"),
    };
    let secret = state.add_token(&token, "root", at(NOW)).unwrap();
    assert!(secret.starts_with("lowwater_") && secret.len() == 73);
    assert_eq!(state.with_token(&secret, at(NOW)).unwrap(), Some(token.holder.clone()));
    assert_eq!(state.with_token(&secret, token.until).unwrap(), None, "it ended");
    assert_eq!(state.with_token("lowwater_", at(NOW)).unwrap(), None);
    assert!(
        state
            .add_token(&token, "root", at(NOW))
            .unwrap_err()
            .to_string()
            .contains("already")
    );
    assert_eq!(state.tokens().unwrap(), [token]);
    assert!(state.remove_token("grafana", "root", at(NOW)).unwrap());
    assert_eq!(state.with_token(&secret, at(NOW)).unwrap(), None);
    state
        .note_failure(&format!("x\u{1b}[31m{}", "y".repeat(1000)), at(NOW))
        .unwrap();
    let log = state.log().unwrap();
    assert!(
        log[2].who.starts_with("x[31my") && log[2].who.len() == 64,
        "{:?}",
        log[2]
    );
}

#[test]
fn names_are_plain() {
    assert!(["a", "ann.b-c_1@example.com"].iter().all(|name| is_name(name)));
    assert!(
        ["", "Ann", "a b", "a/b", "é", &"a".repeat(65)]
            .iter()
            .all(|name| !is_name(name))
    );
    assert_eq!(Role::parse("approver"), Some(Role::Approver));
    assert!(Role::parse("root").is_none() && Role::Viewer < Role::Approver && Role::Approver < Role::Admin);
}

/// A file of the first form is brought up, with what it holds.
#[test]
fn an_older_file_is_brought_up() {
    let dir = tempfile::tempdir().unwrap();
    {
        let state = State::open(dir.path()).unwrap();
        state.approve(&approval("a", "ann")).unwrap();
        state
            .run(async {
                sqlx::raw_sql("DROP TABLE sessions; DROP TABLE tokens; DROP TABLE users; PRAGMA user_version = 1;")
                    .execute(&state.pool)
                    .await
            })
            .unwrap();
    }
    let state = State::open(dir.path()).unwrap();
    assert!(state.users().unwrap().is_empty());
    assert_eq!(state.approvals(at("2026-11-15T00:00:00Z")).unwrap().len(), 1);
}
