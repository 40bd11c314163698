//! Ctrl-C during a load: exit 130, and the store is as it was.

#![allow(clippy::unwrap_used, reason = "a test may fail")]
#![cfg(unix)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{organisation, program, run};

/// The sample's bill often enough that loading it takes a while, under resource ids of their own.
fn long_bill() -> String {
    let bill = organisation::bill();
    let (header, rows) = bill.split_once('\n').unwrap();
    let mut out = format!("{header}\n");
    for copy in 0..60 {
        out.push_str(&rows.replace("i-", &format!("i{copy}-")));
    }
    out
}

#[test]
fn ctrl_c_leaves_the_old_state() {
    let dir = tempfile::tempdir().unwrap();
    organisation::write(dir.path());
    assert_eq!(run(dir.path(), &["load", "bill.csv"]).code, 0);
    let before = run(dir.path(), &["report", "--json"]).stdout;
    std::fs::write(dir.path().join("long.csv"), long_bill()).unwrap();
    let mut load = program(dir.path(), &["load", "long.csv", "--source", "other"]);
    let mut child = load.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let pid = child.id().to_string();
    assert!(
        Command::new("kill").args(["-INT", &pid]).status().unwrap().success(),
        "the load was over too early"
    );
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_mins(1), "does not stop");
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: stopped; nothing was changed\n"
    );
    assert_eq!(run(dir.path(), &["report", "--json"]).stdout, before);
}
