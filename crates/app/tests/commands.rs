//! The commands that need no data: help, init, policy, completions, man pages, reference pages, exit codes.

mod common;

use common::{finish, program, run, run_wide, transcript};

const COMMANDS: &[&str] = &[
    "demo",
    "load",
    "unload",
    "report",
    "plan",
    "check",
    "backtest",
    "show",
    "explain",
    "offers",
    "rejects",
    "serve",
    "user",
    "token",
    "log",
    "digest",
    "tags",
    "doctor",
    "policy",
    "init",
    "completions",
    "man",
];

#[test]
fn help_of_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let help = run(dir.path(), &["--help"]);
    assert_eq!(help.code, 0);
    insta::assert_snapshot!("help", help.stdout);
}

#[test]
fn help_of_every_command() {
    let dir = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        let help = run(dir.path(), &[command, "--help"]);
        assert_eq!(help.code, 0, "{command}: {}", help.stderr);
        insta::assert_snapshot!(format!("help_{command}"), help.stdout);
    }
    let all = run(dir.path(), &["--help"]).stdout;
    assert!(COMMANDS.iter().all(|c| all.contains(&format!("\n  {c} "))), "{all}");
    let listed = all
        .lines()
        .skip_while(|l| *l != "Commands:")
        .skip(1)
        .take_while(|l| !l.is_empty());
    let listed = listed.filter(|l| l.starts_with("  ") && !l.starts_with("   ")).count();
    assert_eq!(listed, COMMANDS.len() + 1, "every command and `help`\n{all}");
    assert!(!all.contains("\n  docs "), "hidden commands are not listed");
}

#[test]
fn wrong_use_is_exit_2_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    let cases: &[&[&str]] = &[
        &[],
        &["polisy"],
        &["policy", "--frob"],
        &["completions", "basic"],
        &["show"],
    ];
    for args in cases {
        let wrong = run(dir.path(), args);
        assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""), "{args:?}");
        assert!(!wrong.stderr.is_empty(), "{args:?}");
        if !args.is_empty() {
            let said = &wrong.stderr;
            assert!(
                said.starts_with("error: ") && said.contains("\nhint: "),
                "{args:?}: {said}"
            );
            assert!(!said.contains("For more information"), "{args:?}: {said}");
        }
    }
    assert!(
        run(dir.path(), &["polisy"]).stderr.contains("`policy`"),
        "suggests the nearest name"
    );
}

#[test]
fn init_writes_once_and_never_over() {
    let dir = tempfile::tempdir().unwrap();
    let first = run(dir.path(), &["init"]);
    insta::assert_snapshot!("init", transcript(&first));
    let policy = dir.path().join("lowwater-data/policy.toml");
    std::fs::write(&policy, "[load]\nmax_reject_share = 0.5\n").unwrap();
    let second = run(dir.path(), &["init"]);
    assert!(
        second
            .stdout
            .starts_with("lowwater-data was set up before; nothing was changed."),
        "{}",
        second.stdout
    );
    assert!(std::fs::read_to_string(&policy).unwrap().contains("0.5"));
    let json = run(dir.path(), &["init", "--json"]).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["directory"], "lowwater-data");
    assert!(value["files"].as_array().unwrap().iter().all(|f| f["written"] == false));
}

#[test]
fn what_init_writes_is_taken_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["init"]);
    let fresh = run(dir.path(), &["policy", "--changed"]);
    assert_eq!(
        (fresh.code, fresh.stdout.as_str()),
        (0, "No policy key differs from its default.\n")
    );
    insta::assert_snapshot!(
        "policy_file",
        std::fs::read_to_string(dir.path().join("lowwater-data/policy.toml")).unwrap()
    );
}

#[test]
fn the_policy_that_holds() {
    let dir = tempfile::tempdir().unwrap();
    insta::assert_snapshot!("policy", run(dir.path(), &["policy"]).stdout);
    std::fs::create_dir(dir.path().join("lowwater-data")).unwrap();
    let file = dir.path().join("lowwater-data/policy.toml");
    std::fs::write(
        &file,
        "[usage]\nmin_join_share = 0.5\n[team.vision]\nnever = [\"stop\"]\n",
    )
    .unwrap();
    insta::assert_snapshot!("policy_changed", run(dir.path(), &["policy", "--changed"]).stdout);
    let json: serde_json::Value =
        serde_json::from_str(&run(dir.path(), &["--json", "policy", "--changed"]).stdout).unwrap();
    assert_eq!(json["keys"][0]["key"], "usage.min_join_share");
    assert_eq!(json["keys"][0]["value"], 0.5);
    assert_eq!(json["keys"][0]["default"], 0.8);
    assert_eq!(json["team"]["vision"]["never"][0], "stop");
}

#[test]
fn a_wrong_policy_is_exit_3_with_place_and_hint() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("lowwater-data")).unwrap();
    std::fs::write(dir.path().join("lowwater-data/policy.toml"), "[lode]\nx = 1\n").unwrap();
    let wrong = run(dir.path(), &["policy"]);
    insta::assert_snapshot!("policy_wrong", transcript(&wrong));
    let missing = run(dir.path(), &["policy", "--policy", "none.toml"]);
    assert_eq!(missing.code, 3);
    assert!(missing.stderr.starts_with("error: none.toml: "), "{}", missing.stderr);
}

#[test]
fn the_data_directory_is_named_before_or_after_or_by_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    for args in [["--data", "a", "init"], ["init", "--data", "b"]] {
        assert_eq!(run(dir.path(), &args).code, 0);
    }
    let mut by_environment = program(dir.path(), &["init"]);
    by_environment.env("LOWWATER_DATA", "c");
    assert_eq!(finish(by_environment).code, 0);
    for name in ["a", "b", "c"] {
        assert!(dir.path().join(name).join("workloads.toml").is_file(), "{name}");
    }
    assert!(!dir.path().join("lowwater-data").exists());
}

#[test]
fn completions_for_every_shell() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(dir.path(), &["completions", shell]);
        assert_eq!(script.code, 0);
        assert!(
            script.stdout.contains("lowwater") && script.stdout.contains("completions"),
            "{shell}"
        );
    }
}

#[test]
fn man_pages_are_whole() {
    let dir = tempfile::tempdir().unwrap();
    let page = run(dir.path(), &["man"]).stdout;
    assert!(
        page.contains(".TH lowwater 1") && page.contains("EXIT STATUS"),
        "{page}"
    );
    let pages = run(dir.path(), &["man", "pages"]);
    assert_eq!((pages.code, pages.stderr.as_str()), (0, "man pages are in pages\n"));
    for command in COMMANDS {
        let path = dir.path().join(format!("pages/lowwater-{command}.1"));
        assert!(path.is_file(), "{}", path.display());
    }
}

#[test]
fn reference_pages_in_the_repository_are_those_of_the_program() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(run(dir.path(), &["docs", "pages"]).code, 0);
    let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let mut names: Vec<_> = std::fs::read_dir(dir.path().join("pages"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    assert!(names.len() >= 6);
    for name in names {
        let fresh = std::fs::read_to_string(dir.path().join("pages").join(&name)).unwrap();
        let old = std::fs::read_to_string(kept.join(&name)).unwrap_or_default();
        assert!(
            fresh == old,
            "docs/reference/{} has drifted; `cargo xtask bless` writes it",
            name.to_string_lossy()
        );
    }
}

#[test]
fn nothing_is_wider_than_asked_and_nothing_is_coloured_in_a_pipe() {
    let dir = tempfile::tempdir().unwrap();
    for columns in [60, 100, 160] {
        for args in [&["policy"][..], &["init"], &["policy", "--changed"]] {
            let text = run_wide(dir.path(), columns, args).stdout;
            let widest = text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
            assert!(widest <= columns, "{args:?} at {columns}: {widest}\n{text}");
            assert!(!text.contains('\u{1b}'));
        }
    }
}

#[test]
fn a_closed_pipe_is_quiet() {
    use std::process::Stdio;
    let dir = tempfile::tempdir().unwrap();
    let mut command = program(dir.path(), &["completions", "bash"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let error = run(dir.path(), &["init", "--data", "file/data"]);
    assert_eq!(error.code, 4);
    assert!(error.stderr.starts_with("error: file/data: "), "{}", error.stderr);
}

/// Settings files that are none, and data folders that can't be one: told at once, and nothing is written.
#[cfg(unix)]
#[test]
fn settings_that_are_no_file_and_folders_that_are_no_data() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    std::fs::write(at("bill.csv"), "ChargePeriodStart,BilledCost\n2026-10-01T00:00:00Z,1\n").unwrap();
    assert_eq!(run(dir.path(), &["load", "bill.csv", "--data", "d"]).code, 0);
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
    assert!(made.success());
    std::fs::write(at("large.toml"), "# \n".repeat(400_000)).unwrap();
    for (file, what) in [
        ("/dev/zero", "/dev/zero: is not a file\nhint: "),
        ("pipe", "pipe: is not a file\nhint: "),
        ("large.toml", "large.toml: is larger than 1 MiB"),
        (
            "absent.toml",
            "absent.toml: there is no such file\nhint: name a policy file",
        ),
    ] {
        let plan = run(dir.path(), &["plan", "--data", "d", "--policy", file]);
        assert_eq!(plan.code, 3, "{}", plan.stderr);
        assert!(plan.stderr.contains(what), "{}", plan.stderr);
    }
    for option in ["--source", "--provider", "--host"] {
        let load = run(dir.path(), &["load", "bill.csv", "--data", "d", option, " "]);
        assert_eq!(load.code, 2, "{}", load.stderr);
        assert!(load.stderr.contains("a name is needed"), "{}", load.stderr);
    }
    for command in [&["init"][..], &["load", "bill.csv"], &["report"], &["policy"]] {
        let of = |data: &'static str| run(dir.path(), &[command, &["--data", data]].concat());
        let file = of("bill.csv");
        assert_eq!(file.code, 3, "{command:?}: {}", file.stderr);
        assert!(
            file.stderr
                .contains("bill.csv: is a file, and data is kept in a folder\nhint: "),
            "{}",
            file.stderr
        );
        for inside in ["d/store", "d/store/charges"] {
            let refused = of(inside);
            assert_eq!(refused.code, 4, "{command:?}: {}", refused.stderr);
            assert!(refused.stderr.contains("is inside the store"), "{}", refused.stderr);
            assert!(!dir.path().join(inside).join("policy.toml").exists());
        }
    }
}
