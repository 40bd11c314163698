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
